"""What a Region has not got: instances that it refuses for a while, whatever the quota allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.localcloud.services.sagemaker.job import Training

FAILURE = (
    "CapacityError: Unable to provision requested ML compute capacity. Please retry using a different ML instance type."
)
RETRYING = "Starting - Insufficient capacity error from EC2 while launching instances, retrying!"
PENDING_TOO_LONG = "Training job pending time exceeded MaxPendingTimeInSeconds provided"

ACCELERATED = ("ml.p", "ml.g", "ml.trn")
"""Only these wait for MaxPendingTimeInSeconds."""


@dataclass(frozen=True)
class Shortage:
    """Of a Region's instances of any type or of one, of any purchase or of one."""

    region: str
    instance_type: str | None = None
    spot: bool | None = None

    def concerns(self, training: Training) -> bool:
        return (
            self.region == training.region
            and self.instance_type in (None, training.instance_type)
            and self.spot in (None, training.spot)
        )


def may_wait(training: Training) -> bool:
    """Spot waits for capacity, and so does an accelerated instance with a time to be pending; the rest fail."""
    patient = "MaxPendingTimeInSeconds" in training.request["StoppingCondition"]
    return training.spot or (patient and training.instance_type.startswith(ACCELERATED))
