"""Which copies are made, in a large problem.

decide_copies.py    what is left of a problem once its copies are decided, and what does any plan cost at least?
set_program.py      what do all tasks cost, as far as hours tell, if these copies are made and no others?
choose_copies.py    which copies are made: is it cheaper with one more, one less, or one instead of another?
improve_copies.py   which copies are better, now that it is known what slots are worth?
pay_charges.py      which commodities pay for a copy, at given prices of slots?
proof.py            what does any plan cost at least, whichever copies it makes?
copies_program.py   what is proven of copies that are made whole or not at all? How many slots has each lane?
"""
