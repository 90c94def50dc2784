"""Runs the training's own process on a bare machine.

surroundings.py  what does a training's process find around it: its command line, its variables?
container.py     how does it run in a container on this machine?
child.py         how does the training's own process run, and end?
"""
