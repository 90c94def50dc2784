"""What is written down of a run in the control bucket, once and for all.

anchor.py        what makes a run exist? (`run.json` and its submissions)
submission.py    which tasks are sent together, in which arrays, in which order?
"""
