"""The champion of each workload: the model that others use, until a better one takes its place.

models.py        which model is the champion? promote, roll back, fetch
promotion.py     what is written down of a promotion? (the model, and what it was made of)
shelf.py         where do promotions lie, and who wins if two are made at once?
challenger.py    which task of a run is held against the champion, and what was it made of?
refusals.py      which challengers were refused, and why?
judge.py         is it better?
data_mark.py     what did a training read, if it lies there unchanged?
evaluation.py    on which data were both measured?
warm_start.py    what does a sweep take from its champion?
differences.py   what differs between two promoted models?
readers.py       which registries are told who is champion?
mlflow.py        how does an MLflow registry know the champion?
model_registry.py  how does the SageMaker Model Registry know it?
telling.py       what are others told of it?
"""
