"""A workload is trained again by itself, at night: by a schedule, on what is new.

schedules.py   how is a schedule made, changed, paused, run now and taken away?
freeze.py      what would a night do, as the sweep file and the code are now? what changes from one to another?
goal.py        what is a night to reach, frozen by its hash?
shelf.py       which schedules and nights are there, in the control bucket?
calendar.py    which nights are due, by the clocks of a place?
conduct.py     which nights are begun and gone on with at a tick?
night.py       what does a night do next? (pure)
work.py        what does a night look at, and how is each of its actions done?
aftermath.py   what is done when a night's runs have ended, and who is told?
dead_letters.py  which ticks could EventBridge Scheduler not deliver, and who is told?
lost.py        which nights can nobody go on with, and why?
team.py        on which catalog, and with which settings, does a night work?
views.py       how do schedules and nights look from outside, and what is wrong with them?
__main__.py    what does a schedule's job run?
picking/       what does a night train?
"""
