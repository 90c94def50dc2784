"""Why a run is slow or stuck, or a task failed; and what to do.

findings.py      what holds a run up?
hindrance.py     how is one of these things told?
refused.py       what have places refused, and for which quota?
turns.py         what holds launchers back by our own will: a limit, canaries?
waiting.py       what do the tasks wait for that have no launcher yet, and who has it?
without_machines.py  which tasks have been started, and have no machines just now?
unsent.py        which tasks were never sent?
story.py         where has the time of one task gone?
"""
