"""A test suite that holds a platform to all that `base.py` promises.

suite.py       does a platform keep these promises? A test class of its own is made of `Conformance`.
operating.py   does its part keep them that sets accounts up?
sites.py       does its runner keep them where a lane has parts, such as zones?
subject.py     what does the suite start its trainings with?
"""
