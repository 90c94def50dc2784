"""What the user asks: sweep.yaml, read with care. Errors are at file:line:column.

reader.py               how does a file become a Sweep, and an error one line with its place?
mistakes.py             what is wrong with a part of the file, in words?
yaml.py                 what is YAML here, and where does each part of a file stand?
schema.py               what do editors check a sweep.yaml with?
classic.py              how is a classic JOBARRAY read?

sweep.py                what may a sweep.yaml hold? what must its parts agree on?
start.py                what does a training start: a script, a command, or its image?
filled_in.py            which parameters stand in words and variables?
arguments.py            what may stand under `train.arguments`? what may stand in braces?
train.py                what may stand under `train`? (code, image, how processes start)
channels.py             which data does a training find beside its dataset, and under which names?
environment.py          what may a variable be, and how is it said where a secret lies?
plain_secrets.py        is there a secret in the file itself?
by_region.py            how is something written that differs by Region?
tags.py                 which tags may a sweep have?
where.py                what may stand under `where`? (platforms, Regions, instance types, ways of buying)
resources.py            what may stand under `where.resources`, and which instance types have it?
metrics.py              what may stand under `train.metrics`?
axes.py                 what may stand under `space`? (the forms of an axis)
goal.py                 what may stand under `plan`?
model.py                what is a value, and how does a part of the file say that something is wrong?
duration.py             how are durations written?

space.py                which point has which number?
parameters.py           which parameters does a task get, and where do they stand in the file?
runtime_expression.py   how do hours follow from parameters?
"""
