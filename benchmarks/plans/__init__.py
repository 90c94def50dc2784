"""What a plan takes, and what it leaves above the least that is possible, beside SkyPilot and a greedy planner.

planning.py          a thousand tasks, and a million
medium.py            25 sweeps such as most teams have
million.py           a million tasks, when spot, budgets or refusals make it hard; many lanes
real.py              on a table of real prices
greedy.py            a rival: tasks one after another, each to the cheapest place that is free
skypilot.py          a rival: SkyPilot's optimiser, in an environment of its own
skypilot_chain.py    what runs there
"""
