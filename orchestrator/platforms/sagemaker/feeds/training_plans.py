"""SageMaker's training plans: instances that are paid for already, from a moment to another."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from orchestrator.aws.answers import understood
from orchestrator.aws.errors import aws_errors
from orchestrator.platforms.feed import Feed, Reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from orchestrator.aws.session import Clients

_ASKING = "list the training plans"
_OURS = ("Active", "Scheduled")
_FOR_TRAININGS = "training-job"


def read(clients: Clients, region: str, now: datetime) -> Reading:  # noqa: ARG001 (a feed is told the moment)
    """Return a row for each part of each training plan of this Region that is not over."""
    with understood(_ASKING, where=region):
        return _read(_plans(clients, region), region)


def _read(plans: Iterable[dict[str, Any]], region: str) -> Reading:
    rows, left_out = [], []
    for plan in plans:
        name = plan["TrainingPlanName"]
        if plan.get("Status") not in _OURS:
            continue
        if _FOR_TRAININGS not in plan.get("TargetResources", [_FOR_TRAININGS]):
            left_out.append(f"the training plan {name} is for {', '.join(plan['TargetResources'])}")
            continue
        parts = defaultdict(list)
        for part in plan.get("ReservedCapacitySummaries", []):
            if part.get("Status") in _OURS and part.get("StartTime") and part.get("EndTime"):
                parts[part["InstanceType"]].append(part)
        rows += [
            _row(plan, part, region, f"{region}/{name}/{instance_type}/{number}")
            for instance_type, of_type in sorted(parts.items())
            for number, part in enumerate(sorted(of_type, key=lambda one: one["StartTime"]), 1)
        ]
    return Reading(tuple(rows), tuple(left_out))


def _plans(clients: Clients, region: str) -> Iterator[dict[str, Any]]:
    with aws_errors(_ASKING, where=region), understood(_ASKING, where=region):
        for page in clients.client("sagemaker", region).get_paginator("list_training_plans").paginate():
            for plan in page["TrainingPlanSummaries"]:
                yield dict(plan)


def _row(plan: dict[str, Any], part: dict[str, Any], region: str, name: str) -> dict[str, object]:
    return {
        "commitment": name,
        "kind": "training_plan",
        "platform": "sagemaker",
        "region": region,
        "instance_type": part["InstanceType"],
        "slots": part["TotalInstanceCount"],
        "usd_per_hour": None,
        "discount": None,
        "starts_at": part["StartTime"],
        "ends_at": part["EndTime"],
        "arn": plan["TrainingPlanArn"],
    }


FEED = Feed(
    name="training-plans",
    kind="commitments",
    about="instances that are paid for already, for a while",
    actions=("sagemaker:ListTrainingPlans",),
    read=read,
    may_be_empty=True,
)
