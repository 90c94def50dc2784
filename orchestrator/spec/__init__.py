"""What the user asks: sweep.yaml, read with care. Errors are at file:line:column.

reading/                how does a file become a Sweep, and an error one line with its place?
sweep.py                what may a sweep.yaml hold? what must its parts agree on?
train/                  what may stand under `train`? (code, image, processes, channels, environment)
space/                  what may stand under `space`? which point has which number?
where.py                what may stand under `where`? (platforms, Regions, instance types, ways of buying)
resources.py            what may stand under `where.resources`, and does an instance of some shape have it?
known_types.py          which instance types have it, and what is wrong with resources that none has?
schedule/               what may stand under `schedule`, and when is a time of day due?
workload/               what holds for all runs of a name together? (`promote`, `budget`, `notify`)
goal.py                 what may stand under `plan`?
warm.py                 what does a sweep take from its workload's champion?
tags.py                 which tags may a sweep have?
by_region.py            how is something written that differs by Region?
duration.py             how are durations written?
model.py                what is a value, and how does a part of the file say that something is wrong?

schema.py               what do editors check a sweep.yaml with?
classic.py              how is a classic JOBARRAY read, with further columns below a header?
"""
