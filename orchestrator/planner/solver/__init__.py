"""Finds the cheapest choices within all limits, with a proven bound.

docs/planner-solving.md tells how.

    meet_goal.py       which solution does the sweep ask for: the cheapest, or the fastest?
    optimise.py        in which way is a problem solved: everything at its cheapest, exactly, or by rounding?
    exact.py           how is a small problem solved?
    slots/             how do whole tasks fill slots?
    rounding.py        how is a large problem solved: relaxation, copies, whole tasks?
    whole_tasks.py     how do whole tasks come out of the relaxation's flow?
    room.py            do tasks fit at all, wherever data lies and whatever they cost?
    merged.py          which problem is about the same, and far smaller?
    dominated.py       which choices does no relaxation need?
    columns.py         what is the relaxation, and which bound do duals prove?
    dual_estimate.py   what are slots about worth, before any program is solved?
    sifting.py         how is the relaxation solved over few of its columns?
    pick_columns.py    which columns come in first?
    copies/            which copies are made, in a large problem?
    program.py         how is a program given to HiGHS?
    incremental.py     how is a program that grows given to HiGHS?
"""
