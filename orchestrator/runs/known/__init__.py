"""What the database knows of runs: a cache of the control bucket.

sync.py          how does the database learn what happened?
ledger.py        what does the database remember of runs?
noting.py        how is that written down?
orders.py        what was ordered of a run? (its submissions, a cancel)
news.py          what has changed, as names tell it?
documents.py     what do results themselves say?
progress.py      how far has the bucket been read?
results.py       what does it remember of the tasks of a run?
rows.py          how do results and news become rows, and rows results?
damage.py        what could not be understood, and was left out?
gone.py          which objects are gone, though others tell of them?
lease.py         what does a live run hold of each quota?
history.py       what do finished tasks tell the planner?
"""
