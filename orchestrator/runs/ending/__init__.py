"""The end of a run that its launchers do not bring about.

cancel.py        how does everything stop?
settle.py        who writes how a task ended, if its launcher died?
"""
