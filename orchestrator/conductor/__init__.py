"""Does what a person would do next, in small steps that may be stopped anywhere.

step.py    what may be done next, and what does a strategy see when it decides?
notes.py   what has a conductor done so far? (its notes in the control bucket)
drive.py   who asks a strategy, writes down what it wants, and does it?

A strategy decides, and does each thing once it is written down. Nights are one; rounds of a search and steps of a
workflow fit the same frame. Notes make it restartable: two conductors of one instance, or one that is killed at any
line, do what one that is never disturbed does.
"""
