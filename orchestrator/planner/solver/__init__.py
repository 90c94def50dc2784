"""Finds the cheapest choices within all limits, with a proven bound.

docs/planner-solving.md tells how.

    meet_goal.py       which solution does the sweep ask for: the cheapest, or the fastest?
    optimise.py        in which way is a problem solved: everything at its cheapest, exactly, or by rounding?
    exact.py           how is a small problem solved?
    patterns.py        in which ways can whole tasks fill one slot?
    start_cuts.py      which tasks would fit, if only they did not start longest first?
    rounding.py        how is a large problem solved: relaxation, copies, whole tasks?
    slot_program.py    how do whole tasks fill slots, as far as a linear program can tell?
    place_tasks.py     which whole tasks does each lane take, one lane after the other?
    rest.py            what is left meanwhile: tasks without a place, slots without tasks?
    fill_lane.py       which whole tasks are all slots of a lane worth most with, in the order in which they start?
    fill_slot.py       which whole tasks is one slot worth most with?
    dominated.py       which choices does no relaxation need?
    columns.py         what is the relaxation, and which bound do duals prove?
    dual_estimate.py   what are slots about worth, before any program is solved?
    sifting.py         how is the relaxation solved over few of its columns?
    pick_columns.py    which columns come in first?
    copies.py          which copies are made, and how many slots has each lane of what it shares?
    program.py         how is a program given to HiGHS?
    incremental.py     how is a program that grows given to HiGHS?
"""
