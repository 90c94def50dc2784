"""What is used of SageMaker's quotas of training: by everybody in the account, us among them.

Search tells a hundred trainings in one answer, with their instances. ListTrainingJobs tells names only, and takes two
calls a second of a whole account.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from orchestrator.aws.answers import understood
from orchestrator.aws.errors import aws_errors
from orchestrator.platforms.feed import Feed, Reading
from orchestrator.platforms.sagemaker.described.alive import NOT_ENDED, machines_of, purchase_of
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from orchestrator.aws.session import Clients

_ASKING = "search the trainings that run"
ALL = "*/*"
"""What all instances of a Region count under. It is always told: where nothing else is, nothing is used."""


def read(clients: Clients, region: str, now: datetime) -> Reading:  # noqa: ARG001 (a feed is told the moment)
    """Return how many instances trainings hold or wait for in this Region, by the quotas that they count under."""
    used = Counter({ALL: 0})
    for job in _trainings(clients, region):
        with understood(_ASKING, where=region):
            bought, held = purchase_of(job), list(_instances(job.get("ResourceConfig", {})))
        if bought is Purchase.COMMITTED:
            continue  # the instances of a training plan are paid for already: no quota counts them
        for instance_type, instances in held:
            for name in (f"{instance_type}/{bought.value}", f"*/{bought.value}", ALL):
                used[name] += instances
    rows = ({"platform": "sagemaker", "region": region, "quota": name, "used": used[name]} for name in sorted(used))
    return Reading(tuple(rows))


def _trainings(clients: Clients, region: str) -> Iterator[dict[str, Any]]:
    """Yield the trainings that have not ended."""
    with aws_errors(_ASKING, where=region), understood(_ASKING, where=region):
        pages = clients.client("sagemaker", region).get_paginator("search")
        for status in NOT_ENDED:
            wanted = {"Filters": [{"Name": "TrainingJobStatus", "Operator": "Equals", "Value": status}]}
            asked: Any = {"Resource": "TrainingJob", "SearchExpression": wanted}
            for page in pages.paginate(**asked, PaginationConfig={"PageSize": 100}):
                for found in page["Results"]:
                    yield dict(found.get("TrainingJob", {}))


def _instances(resources: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield each instance type of a training, and how many instances of it."""
    for group in resources.get("InstanceGroups") or [machines_of(resources)]:
        if group.get("InstanceType"):
            yield group["InstanceType"], int(group.get("InstanceCount", 1))


FEED = Feed(
    name="sagemaker-use",
    kind="quota_use",
    about="how many instances the account's trainings use",
    actions=("sagemaker:Search",),
    read=read,
)
