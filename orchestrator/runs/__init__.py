"""One run, from intent to invoice.

runs.py          which run has this name, and how is one made only once?
run.py           what may be done with a run that is opened?
artifacts.py     how are the models of finished tasks fetched?
reproduce.py     how is one task trained again, by itself?
conclude.py      what is done once it has ended?
telling.py       who is told what becomes of it, and what are they told?
patience.py      how long is AWS asked again that does not answer?
limit.py         how many of it may run at once, changed while it runs?
cloud.py         which AWS does a run use?

Seven rooms:

written/         what is written down of a run in the control bucket?
sending/         how does a plan become jobs, and how are tasks run again?
ending/          how does a run stop, and who speaks for launchers that died?
known/           what does the database know of runs?
past/            what have runs taught, lane by lane?
why/             why is a run slow or stuck, and where has a task's time gone?
views/           how does a run look from outside?
"""
