"""Why a run is slow or stuck, or a task failed; and what to do.

findings.py      what holds a run up?
waiting.py       what do the tasks wait for that have no launcher yet, and who has it?
story.py         where has the time of one task gone?
"""
