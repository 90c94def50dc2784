"""Whole tasks fill slots: one slot, one lane, and all lanes one after the other.

windows.py          what is left of a slot for tasks that wait?
patterns.py         in which ways can whole tasks fill one slot?
late_starts.py      what waits behind tasks whose data is late?
start_cuts.py       which tasks would fit, if only they did not start longest first?
slot_program.py     how do whole tasks fill slots, as far as a linear program can tell?
known_slots.py      what may another such program begin with?
place_tasks.py      which whole tasks does each lane take, one lane after the other?
rest.py             what is left meanwhile: tasks without a place, slots without tasks?
fill_lane.py        which whole tasks are all slots of a lane worth most with, in the order in which they start?
best_fillings.py    which whole tasks is one slot of each lane worth most with?
all_ways.py         in which ways can a slot be filled, where tasks have few lengths?
slot_weights.py     how much of a slot does a task take, given that tasks are whole?
fill_slot.py        which whole tasks is one slot worth most with?
"""
