"""Lets the machines of a training find each other, reach each other, and leave together.

place.py        which of the machines is this, and where is it found?
meet.py         how do the machines of a training find each other?
ssh.py          how does mpirun reach the other machines?
leave.py        how do all machines leave when one does?
coming_back.py  may a training go on whose machines come and go?
"""
