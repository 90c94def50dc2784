"""The names of what every local cloud has, and the environment variables that lead a program to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

REGIONS = ("us-east-1", "us-west-2", "eu-west-1", "eu-central-1")
QUEUE = "sweep"
TRAINING_ROLE = "sweep-training"
LAUNCHER_ROLE = "sweep-launcher"
TASK_ROLE = "sweep-execution"
SCHEDULE_ROLE = "sweep-schedule"
DEAD_LETTERS = "sweep-schedules-dead"
BASE_IMAGE = "docker/library/python:slim"
"""An image in this cloud's own registry, that others can be made on."""
_ACCOUNT = "123456789012"


def lane_queue(region: str) -> str:
    """Return the queue for tasks that wait for slots in this Region. Every Region has a queue for each Region."""
    return f"{QUEUE}-{region}"


def bucket(region: str = "") -> str:
    """Return the name of the control bucket, or of a Region's."""
    return f"sweep-local-{region}" if region else "sweep-local"


@dataclass(frozen=True)
class Access:
    """The way into a local cloud: its address, and its key. Whoever has the key runs commands on this machine."""

    endpoint: str
    key_id: str
    secret: str = field(repr=False)
    token: str = field(default="", repr=False)
    """What the keys of a role's session come with."""


def aws_variables(access: Access, region: str) -> dict[str, str]:
    """Return the variables that lead an AWS SDK to a local cloud."""
    return {
        "AWS_ENDPOINT_URL": access.endpoint,
        "AWS_ACCESS_KEY_ID": access.key_id,
        "AWS_SECRET_ACCESS_KEY": access.secret,
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def spot_advisor(access: Access) -> str:
    """Return the address of this cloud's own file of the Spot Advisor, which in AWS lies in a public bucket."""
    return f"{access.endpoint}/spot-advisor-data.json"


def environment(access: Access, regions: Sequence[str], *, empty: bool = False) -> dict[str, str]:
    """Return the variables of an SDK, and the settings of `sweep`, which looks at trainings every second here.

    An account that was empty has names that only its owner knows.
    """
    if empty:
        return {
            **aws_variables(access, regions[0]),
            "SWEEP_LAUNCHER_BASE": f"{access.endpoint}/{BASE_IMAGE}",
            "SWEEP_POLL_S": "1",
            "SWEEP_SPOT_ADVISOR": spot_advisor(access),
        }
    roles = {
        "SWEEP_ROLE": TRAINING_ROLE,
        "SWEEP_JOB_ROLE": LAUNCHER_ROLE,
        "SWEEP_EXECUTION_ROLE": TASK_ROLE,
        "SWEEP_SCHEDULE_ROLE": SCHEDULE_ROLE,
    }
    return {
        **aws_variables(access, regions[0]),
        "SWEEP_REGION": regions[0],
        "SWEEP_BUCKET": bucket(),
        "SWEEP_REGION_BUCKET": bucket("{region}"),
        "SWEEP_QUEUE": QUEUE,
        "SWEEP_LANE_QUEUE": lane_queue("{region}"),
        "SWEEP_LAUNCHER_IMAGE": "sweep-launcher",
        "SWEEP_CONDUCTOR_IMAGE": "sweep-conductor",
        "SWEEP_SCHEDULE_DEAD_LETTERS": f"arn:aws:sqs:{regions[0]}:{_ACCOUNT}:{DEAD_LETTERS}",
        "SWEEP_POLL_S": "1",
        "SWEEP_SPOT_ADVISOR": spot_advisor(access),
        **{name: f"arn:aws:iam::{_ACCOUNT}:role/{role}" for name, role in roles.items()},
    }
