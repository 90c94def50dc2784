"""An account and its Regions, as EC2 is looked at there.

check.py      does a Region have what instances need?
alive.py      what of ours runs in a Region, whatever is written down of it?
leftovers.py  what have instances not taken along, and how is it removed?
"""
