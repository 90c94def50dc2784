"""A whole platform outside the package, as docs/adding-a-platform.md describes one: trainings are local processes.

runner.py      what is a training, how does it stand, and what did it cost?
planning.py    which types are there, and what counts as what?
operating.py   what does it need in an account?
kept.py        where is it kept how a training ended?
desk.py        how is a training handed in, and how is it looked at while it runs?
service.py     the other side of the desk: who runs the trainings?
"""
