"""Several instance types in one request: CreateTrainingJob's InstancePreferences.

SageMaker starts the training on the first type of the list that has capacity, and bills that one. A sweep asks for it
by `platforms.sagemaker.instance_preferences`. Without that, each place is a request of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.platforms.base import Complaint
from orchestrator.platforms.network_variables import add_network_variables
from orchestrator.platforms.sagemaker.processes.parallel import names_instance_type
from orchestrator.platforms.sagemaker.processes.starting import why_starter
from orchestrator.platforms.sagemaker.request import is_accelerated
from orchestrator.wire.shapes import shape
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.spec.train.train import Train
    from orchestrator.wire.task import Place


def check_preferences(train: Train) -> Iterator[Complaint]:
    """Yield a complaint where AWS's toolkit must be told the one instance type that a training has."""
    if names_instance_type(train.parallel) and not why_starter(train):
        message = f"AWS's toolkit starts {train.parallel} by the name of one instance type"
        hint = "leave it out, or start by train.command"
        yield Complaint(message, hint, ("platforms", "sagemaker", "instance_preferences"))


def asks_alike(place: Place, next_place: Place) -> bool:
    """Return whether two places differ in nothing but their machines, as far as CreateTrainingJob is concerned.

    Both are on demand in one Region, with the same data. They have two types of one kind, with as many GPUs: so image,
    processes and variables are the same, and either both wait for capacity or neither does. Each may have its own
    number of instances, unless the variables of the network between them then differ.
    """
    first, second = place.lane, next_place.lane
    on_demand = first.purchase is second.purchase is Purchase.ON_DEMAND
    there = (first.region, place.s3_uri) == (second.region, next_place.s3_uri)
    two_types = first.instance_type != second.instance_type
    return on_demand and there and two_types and _needs(place) == _needs(next_place)


def _needs(place: Place) -> tuple[Any, ...]:
    """Return what a request says differently for different instance types."""
    name = place.lane.instance_type
    known = shape(name)
    if known is None:
        return (name,)
    # AWS has its images by kind, and `auto` processes are one a GPU.
    return known.kind, known.gpus, is_accelerated(name), add_network_variables({}, name, place.instances)
