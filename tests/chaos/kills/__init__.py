"""Kills at calls to AWS, commits and lines, by the thousand: each is a fork of a story on paper.

play.py        how are stories played, each in a process of its own?
script.py      what befalls one run, from its submit to its end?
commands.py    what do people type, and what comes of it?
fork.py        where is somebody killed, and how does the story go on without them?
team.py        which machines, databases and plans are there?
audit.py       what is really there at the end?
"""
