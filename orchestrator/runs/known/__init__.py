"""What the database knows of runs: a cache of the control bucket.

sync.py          how does the database learn what happened?
ledger.py        what does the database remember of runs?
results.py       what does it remember of the tasks of a run?
damage.py        what could not be understood, and was left out?
lease.py         what does a live run hold of each quota?
history.py       what do finished tasks tell the planner?
"""
