"""The commands of `sweep`: a file is called like its command, or its group of commands.

sweeps/    what makes a sweep, and a run of it?
runs/      what looks at runs?
steering/  what changes how a run goes on?
workloads/ what is there for what is trained again and again?
account/   what is there for what all sweeps share?

`sweep local fault` and `sweep local faults` are in account/local_fault.py, and the folder of a local cloud, which all
of its commands ask for, in account/local_home.py. A command's docstring is its help.
A new command is a function in a new file, and a line in the table of `program.py`.
"""
