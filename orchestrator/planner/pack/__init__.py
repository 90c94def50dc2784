"""Puts whole tasks into the slots of lanes.

The solver's programs see hours. What fits as whole tasks is decided here.

    play.py       when do the tasks of one lane end, in the order in which they start, and how many end in time?
    schedule.py   which lanes of a solution hold too many tasks, and when do the tasks of each choice end?
    lanes.py      how many slots does each lane take of its limits, and what do savings plans still pay for?
    exchange.py    which tasks change places, so that all cost less?
    repair.py     where do tasks go that were left over, or did not fit?
"""
