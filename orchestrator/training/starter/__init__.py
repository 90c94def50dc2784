"""The parts of the starter, `training/start.py`. They need Python 3.8 and nothing else.

machine.py      what does a machine know of its training?
variables.py    what is in the training's environment?
words.py        which words make up its command?
launch.py       which command line starts its processes: alone, by torchrun, by mpirun?
command.py      how is a command run, stopped, and its error found?
meeting.py      how do the machines of an MPI training wait for each other?
ranks.py        how does SIGTERM reach MPI's ranks?
"""
