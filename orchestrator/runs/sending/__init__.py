"""The way from a plan to jobs.

check.py         what is refused before anything is written?
submit.py        in which order is everything made and sent, so that it may be killed at any line?
envelopes.py     what does a run draw on the budgets of its workload and owner?
templates.py     what is put into each Region first? (the sources, and what all tasks share there)
deadline.py      by which moment are its tasks to end?
copy.py          how is data brought to another Region?
champion.py      how is the champion's model brought to where trainings start from it?
retry.py         how are tasks run again?
payable.py       which of them have dollars left for another attempt?
unstarted.py     which tasks have not been started, and may be planned anew?
proposal.py      what would a new plan of them move and save, and is it worth it?
replan.py        how do they move to where it wants them?
changes.py       which files of the sources have changed since a run was begun?
dry_run.py       what would be sent?
"""
