"""Views of a run, as it looks from outside. They are declared types, so `--json` has a shape.

first_look.py    how does a run stand at which nobody here has looked?
status.py        how many tasks are in which state?
outlook.py       what does it cost an hour now, and in all? about when does it end?
tasks.py         how does each task stand?
beside.py        what does it cost beside its trainings?
costs.py         what was paid, lane by lane?
accrued.py       what does a training that still runs cost so far?
logs.py          what have the trainings written?
differences.py   what differs between two runs?
curve_chart.py   how are learning curves drawn?
"""
