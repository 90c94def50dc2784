"""The space of a sweep: its axes, its points and their numbers.

axes.py                 what may stand under `space`? (the forms of an axis)
space.py                which point has which number?
parameters.py           which parameters does a task get, and where do they stand in the file?
runtime_expression.py   how do hours follow from parameters?
"""
