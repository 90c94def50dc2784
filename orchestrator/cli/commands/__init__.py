"""The commands of `sweep`: a file is called like its command, or its group of commands.

`sweep local fault` and `sweep local faults` are in local_fault.py. A command's docstring is its help.
A new command is a function in a new file, and a line in the table of `program.py`.
"""
