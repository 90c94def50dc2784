"""Chaos: runs that are killed, doubled and cut off anywhere, and then counted by what is really there.

    make chaos SEED=7 MINUTES=5

__main__.py    how long does it go on, and what is played?
report.py      what was injected, what was broken, and how is it printed?
kills/         many kills for little: a process forks where it may be killed, and goes on both ways
paper/         the AWS of these kills: in memory, answered without a network, in a time that jumps
storm/         the whole of it: real processes and trainings on a local cloud with many faults

The same seed plays the same stories. On paper all that comes of them is the same, too. In the storm it depends on the
machine's clock as well.
"""
