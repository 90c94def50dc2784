"""One-time spot requests, as RunInstances makes one for each spot instance.

Their states and status codes: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-request-status.html
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.ec2.instance import TAKEN_BACK

if TYPE_CHECKING:
    from orchestrator.localcloud.services.ec2.instance import Instance

KEPT_S = 48 * 3600.0
"""Seconds for which a request is shown that is no longer open."""


@dataclass(eq=False)
class SpotRequest:
    """The request that a spot instance was launched by."""

    id: str
    instance: Instance
    created: float
    cancelled: float | None = None

    @classmethod
    def new(cls, instance: Instance, now: float) -> SpotRequest:
        """Make a request that is fulfilled."""
        return cls(f"sir-{secrets.token_hex(4)}", instance, now)

    @property
    def over(self) -> float | None:
        """When nothing more will come of it; None while it is active."""
        return self.cancelled if self.cancelled is not None else self.instance.ended

    @property
    def state(self) -> str:
        """Its state: active, closed or cancelled."""
        if self.cancelled is not None:
            return "cancelled"
        return "active" if self.instance.ended is None else "closed"

    @property
    def status(self) -> str:
        """Its status code."""
        instance = self.instance
        if self.cancelled is not None:
            return "request-canceled-and-instance-running" if instance.alive else "canceled-before-fulfillment"
        if instance.ended is not None:
            return "instance-terminated-no-capacity" if instance.reason == TAKEN_BACK else "instance-terminated-by-user"
        return "fulfilled" if instance.notice is None else "marked-for-termination"

    def facts(self, tags: dict[str, str]) -> dict[str, list[str]]:
        """Return what filters look at."""
        return {
            "spot-instance-request-id": [self.id],
            "instance-id": [self.instance.id],
            "state": [self.state],
            "status-code": [self.status],
            "launched-availability-zone": [self.instance.reservation.subnet.zone],
            "launch.instance-type": [self.instance.reservation.instance_type],
            "tag-key": list(tags),
            **{f"tag:{key}": [value] for key, value in tags.items()},
        }

    def show(self, tags: dict[str, str], now: float) -> dict[str, Any]:
        """Return it as DescribeSpotInstanceRequests shows it."""
        reservation = self.instance.reservation
        price = reservation.request["InstanceMarketOptions"].get("SpotOptions", {}).get("MaxPrice")
        changed = self.over or self.created
        return {
            "SpotInstanceRequestId": self.id,
            "InstanceId": self.instance.id,
            "CreateTime": self.created,
            "State": self.state,
            "Status": {"Code": self.status, "UpdateTime": min(changed, now), "Message": self.status.replace("-", " ")},
            "Type": "one-time",
            "SpotPrice": price,
            "LaunchedAvailabilityZone": reservation.subnet.zone,
            "ProductDescription": "Linux/UNIX",
            "InstanceInterruptionBehavior": "terminate",
            "LaunchSpecification": {
                "ImageId": reservation.image.id,
                "InstanceType": reservation.instance_type,
                "SubnetId": reservation.subnet.id,
            },
            "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
        }
