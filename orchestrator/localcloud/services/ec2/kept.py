"""A capacity reservation, as it was made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(eq=False)
class CapacityReservation:
    """Instances of one type in one zone, kept for the account."""

    id: str
    region: str
    request: dict[str, Any]
    """The request that made it, in boto3's names, with EC2's defaults."""
    created: float
    ends: float | None
    """When it expires; None if it lasts until it is cancelled."""
    cancelled: bool = False

    @property
    def instance_type(self) -> str:
        return str(self.request["InstanceType"])

    @property
    def zone(self) -> str:
        return str(self.request["AvailabilityZone"])

    @property
    def total(self) -> int:
        return int(self.request["InstanceCount"])

    def state(self, now: float) -> str:
        """Return its state: active, expired or cancelled."""
        if self.cancelled:
            return "cancelled"
        return "active" if self.ends is None or now < self.ends else "expired"
