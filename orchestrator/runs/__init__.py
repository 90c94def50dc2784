"""One run, from intent to invoice.

run.py           what may be done with a run that is opened?
anchor.py        what makes a run exist? (`run.json` and its submissions, in the control bucket)
submission.py    which tasks are sent together, in which arrays, in which order?
check.py         what is refused before anything is written?
submit.py        in which order is everything made and sent, so that it may be killed at any line?
templates.py     what is put into each Region first? (the sources, and what all tasks share there)
copy.py          how is data brought to another Region?
dry_run.py       what would be sent?
cancel.py        how does everything stop?
retry.py         how are tasks run again?
sync.py          how does the database learn what happened?
settle.py        who writes how a task ended, if its launcher died?
ledger.py        what does the database remember?
lease.py         what does a live run hold of each quota?
views/           how does a run look from outside?
artifacts.py     how are the models of finished tasks fetched?
history.py       what do finished tasks tell the planner?
cloud.py         which AWS does a run use?
"""
