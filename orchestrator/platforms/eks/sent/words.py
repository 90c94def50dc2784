"""The names of what is made in a cluster, and the marks by which it is found again."""

from __future__ import annotations

RUN, TASK, ATTEMPT = "sweep.run", "sweep.task", "sweep.attempt"
"""Labels of each Job and pod of ours. A label's key takes no colon."""
HASH = "sweep.request-hash"
LANE = "sweep.lane"
OUTPUT = "sweep.output"
TAGS = "sweep.tags"
"""Annotations of each Job of ours: its request's hash, its lane, where it leaves things, all its tags as JSON."""
JOB_NAME = "batch.kubernetes.io/job-name"
CONTAINER = "training"
"""The name of the one container of a pod."""


def service_name(training: str) -> str:
    """Return the name of the Service by which the pods of a training find each other. It must begin with a letter."""
    return f"t-{training}"
