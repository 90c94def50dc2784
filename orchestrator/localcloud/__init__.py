"""A fake AWS on this machine: S3, Batch and SageMaker training whose jobs are real local processes.

It knows nothing of the rest of this package: any program that takes AWS_ENDPOINT_URL can use it.

Five rooms:

http/          who answers a request, and in which words?
services/      how do Batch, SageMaker, prices, logs and the others behave?
iam/           may this caller do that?
machines/      how do jobs and trainings become processes and containers on this machine?
faults/        what goes wrong on command, and where does each fault take effect? (a table, in its `__init__.py`)

For programs that use a local cloud, with the standard library only:

cloud.py       how do I start a local cloud, find one, end one?
steering.py    how do I move a running cloud's clock, and let things go wrong in it?
names.py       what are its buckets, queues and roles called, and which variables lead a program to it?
home.py        who serves a folder, and what did a crash leave there?
errors.py      what does a local cloud that cannot start or be found raise?

The server:

__main__.py    what does `python -m orchestrator.localcloud` take and print?
server.py      how is everything put together, and put away?
provision.py   what does a fresh cloud have?
site.py        what do all services of ours have in common?
clock.py       what time is it there, and what happens at a time?
local_api.py   what is answered under /_local/, to `steering.py`, and what page is shown?
"""

from __future__ import annotations

from orchestrator.localcloud.cloud import LocalCloud, down, environment, status, up
from orchestrator.localcloud.errors import LocalCloudError
from orchestrator.localcloud.home import Serving
from orchestrator.localcloud.steering import Steering

__all__ = ["LocalCloud", "LocalCloudError", "Serving", "Steering", "down", "environment", "status", "up"]
