"""SageMaker's training jobs, as real processes under the contract of SageMaker's training containers.

api.py                which operations are there? (`Trainings`, one for each Region)
request_checks.py     which requests does CreateTrainingJob refuse?
training.py           what is known of a training, and how does DescribeTrainingJob show it?
lifecycle.py          when does a training start and end, and where does it wait or fail for want of capacity?
capacity.py           which instances does a Region lack, and which trainings may wait for them?
permissions.py        what must a training's role allow?
permissions.py        what must a training's role allow?
wishes.py             which instances does a training wish for: one type, or the first of several?
execution.py          what happens from when a training gets its instances until it gives them back?
host/                 what does SageMaker put on a host, and take from it?
toolkit/              how are a training's processes started, as AWS's toolkit starts them?
metrics.py            which metrics are in a log?
failure.py            why did a training fail?
"""
