"""What a sweep file says of its workload: of all runs of its name together.

workload.py  what holds for all runs of a name together?
promote.py   what may stand under `promote`?
budget.py    what may stand under `budget`?
notify.py    what may stand under `notify`?
"""
