"""What may stand under `train`: how one training runs.

train.py                what may stand there? (code, image, how processes start)
image.py                what can be an image?
framework.py            which of AWS's own images may be named?
start.py                what does a training start: a script, a command, or its image?
arguments.py            what may stand under `train.arguments`? what may stand in braces?
filled_in.py            which parameters stand in words and variables?
channels.py             which data does a training find beside its dataset, and under which names?
environment.py          what may a variable be, and how is it said where a secret lies?
metrics.py              what may stand under `train.metrics`?
"""
