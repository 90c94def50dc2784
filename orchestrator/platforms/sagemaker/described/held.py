"""Holds what DescribeTrainingJob says of a training's machines against what was asked for. It sends nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.wire.result import Attempt
    from orchestrator.wire.task import Lane


@dataclass(frozen=True)
class Held:
    """The machines of a training, as SageMaker says."""

    lane: Lane
    site: str
    """The ARN of the training plan that they are part of; empty if they are part of none."""
    instances: int
    rate: float
    """$ that an hour of one instance is billed at."""
    note: str = ""
    """What is other than was asked for, in one line; empty where nothing is."""


def read_held(attempt: Attempt, job: Mapping[str, Any]) -> Held:
    """Return the machines that a training has, or will have as long as none are selected.

    What SageMaker does not say is as it was asked for. A place that was asked for has its own rate. For any other, the
    catalog's price is not here: the rate is the highest of those that were asked for, and the note says so.
    """
    asked = [Held(attempt.lane, attempt.site, attempt.instances, attempt.rate)]
    asked += [Held(place.lane, place.site, place.instances, place.rate) for place in attempt.others]
    found = _described(asked[0], job)
    for one in asked:
        if (one.lane, one.site, one.instances) == (found.lane, found.site, found.instances):
            return one
    rates = [one.rate for one in asked if one.lane == found.lane] or [max(one.rate for one in asked)]
    wanted = ", or ".join(_words(one) for one in asked)
    guess = "" if any(one.lane == found.lane for one in asked) else f", and is booked at ${rates[0]:.2f} an hour"
    note = f"it has {_words(found)}, where {wanted} was asked for{guess}"
    return replace(found, rate=rates[0], note=note)


def _described(asked: Held, job: Mapping[str, Any]) -> Held:
    machines = job.get("ResourceConfig") or {}
    kind = machines.get("SelectedInstanceType") or machines.get("InstanceType") or asked.lane.instance_type
    count = machines.get("SelectedInstanceCount") or machines.get("InstanceCount") or asked.instances
    lane = replace(asked.lane, instance_type=kind, purchase=_purchase(asked, job, machines))
    site = str(machines.get("TrainingPlanArn") or "") if machines else asked.site
    return replace(asked, lane=lane, site=site, instances=int(count))


def _purchase(asked: Held, job: Mapping[str, Any], machines: Mapping[str, Any]) -> Purchase:
    """Return how the machines are bought. Without a word of the machines, there is no word of that either."""
    if job.get("EnableManagedSpotTraining"):
        return Purchase.SPOT
    if machines.get("TrainingPlanArn"):
        return Purchase.COMMITTED
    told = bool(machines) and "EnableManagedSpotTraining" in job
    return Purchase.ON_DEMAND if told else asked.lane.purchase


def _words(held: Held) -> str:
    several = f"{held.instances} × " if held.instances > 1 else ""
    part_of = f" of {held.site}" if held.site else ""
    return f"{several}{held.lane.instance_type} {held.lane.purchase.value}{part_of}"
