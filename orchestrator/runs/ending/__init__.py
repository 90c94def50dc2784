"""The end of a run that its launchers do not bring about.

cancel.py        how does everything stop?
arrays.py        which array jobs does it have, and do they live?
stop.py          which trainings may still run, and how do they stop?
over.py          who ends a cancel that was interrupted?
late.py          which trainings began after their task had ended?
lost.py          which tasks have lost their launcher?
reap.py          what runs that nobody waits for, and how does it stop?
nobody_waits.py  why does nobody wait for something that carries a run's tags?
stray_leftovers.py  which volumes and the like have its trainings left, and who removes them?
stray_arrays.py  which array jobs belong to no live run?
proof.py         what did a cancel ask for, and where?
settle.py        who writes how a task ended, if its launcher died?
unheard.py       what had its training reported by then?
"""
