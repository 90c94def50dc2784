"""Watches one training: its state, its log, and what ends it.

lookout.py        when is a training looked at, and who tells all of a Region which have ended?
pace.py           how often may launchers look, so that all of them keep to AWS's rates?
metrics_reader.py which metrics do the trainings' logs report?
watchdog.py       when is a training ended though it has not failed?
last_words.py     why did a training fail, in its own words?
"""
