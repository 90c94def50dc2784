"""Capacity: the instances that a Region lacks for a while, whatever the quota allows.

A fault adds a shortage (`Lifecycle.add_shortage`). While it lasts, a training that it concerns waits or fails, in
`Lifecycle._wait_or_fail_for_capacity`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.localcloud.services.sagemaker.training import Training
    from orchestrator.localcloud.services.sagemaker.wishes import Wish

NO_CAPACITY = (
    "CapacityError: Unable to provision requested ML compute capacity. Please retry using a different ML instance type."
)
"""The failure reason of a training that may not wait."""
WAITING_FOR_CAPACITY = "Starting - Insufficient capacity error from EC2 while launching instances, retrying!"
PENDING_TOO_LONG = "Training job pending time exceeded MaxPendingTimeInSeconds provided"

ACCELERATED = ("ml.p", "ml.g", "ml.trn")
"""The families of instance types that wait for MaxPendingTimeInSeconds. No others do."""


@dataclass(frozen=True)
class Shortage:
    """Instances that a Region lacks. Without a type or a purchase, it concerns all types or both purchases."""

    region: str
    instance_type: str | None = None
    spot: bool | None = None

    def concerns(self, training: Training, wish: Wish) -> bool:
        """Say whether a training that wishes for this asks for such instances."""
        return (
            self.region == training.region
            and self.instance_type in (None, wish.instance_type)
            and self.spot in (None, training.spot)
        )


def may_wait(training: Training) -> bool:
    """Say whether a training waits while there is no capacity; one that may not wait fails.

    Spot waits, and so does an accelerated instance whose request gives a time to be pending.
    """
    patient = "MaxPendingTimeInSeconds" in training.request["StoppingCondition"]
    return training.spot or (patient and training.instance_type.startswith(ACCELERATED))
