"""What is written down of a run in the control bucket, once and for all.

anchor.py        what makes a run exist? (`run.json` and its submissions)
home.py          where are its launchers?
submission.py    which tasks are sent together, in which arrays, in which order?
planned.py       which places has a submission planned anew for its tasks?
plan_now.py      what is the plan of a run now, after all its submissions?
"""
