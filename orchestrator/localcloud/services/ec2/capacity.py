"""Capacity: the instances that zones lack for a while, and the errors of those who ask for them.

A fault adds a shortage. https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html has the codes.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.services.ec2.instance import ALIVE
from orchestrator.localcloud.services.ec2.vcpus import COUNTED_FOR_S, VcpuKey, VcpuQuotas, vcpus_of
from orchestrator.localcloud.services.market.price_table import REGIONS, is_offered, spot_price

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.localcloud.clock import Clock
    from orchestrator.localcloud.services.ec2.instance import Instance
    from orchestrator.localcloud.services.ec2.kept import CapacityReservation

_STEP_S = 8 * 3600
"""Seconds for which a spot price stays, as `market/spot_market.py` tells it."""


@dataclass(frozen=True)
class Pool:
    """Instances of one type in one zone, for one purchase."""

    region: str
    zone: str
    instance_type: str
    spot: bool


@dataclass(frozen=True)
class Shortage:
    """Instances that a Region lacks. Without a zone, a type or a purchase, it concerns all of them."""

    region: str
    zone: str | None = None
    instance_type: str | None = None
    spot: bool | None = None

    def concerns(self, pool: Pool) -> bool:
        """Return whether instances of a pool are lacking."""
        return (
            self.region == pool.region
            and self.zone in (None, pool.zone)
            and self.instance_type in (None, pool.instance_type)
            and self.spot in (None, pool.spot)
        )


class Capacity:
    """What zones have, and what the account may run."""

    def __init__(self, clock: Clock, quotas: VcpuQuotas) -> None:
        self._clock = clock
        self._quotas = quotas
        self._shortages: dict[Shortage, float] = {}
        """The moment at which each shortage is over."""
        self._lock = threading.Lock()

    def add_shortage(self, shortage: Shortage, seconds: float) -> None:
        """Let there be no more of some instances for a while. What runs goes on."""
        with self._lock:
            self._shortages[shortage] = self._clock.now() + seconds

    def end_shortage(self, shortage: Shortage) -> None:
        """Let there be such instances again, now."""
        self.add_shortage(shortage, 0)

    def has(self, pool: Pool) -> bool:
        """Return whether a zone has instances of a type."""
        now = self._clock.now()
        with self._lock:
            return not any(each.concerns(pool) for each, until in self._shortages.items() if now < until)

    def check(self, pool: Pool, zones: Iterable[str], max_price: str | None) -> None:
        """Raise EC2's refusal unless a zone has instances. `zones` are all that could be asked for."""
        if not is_offered(pool.instance_type, pool.region):
            raise AwsError(
                "Unsupported",
                f"Your requested instance type ({pool.instance_type}) is not supported in your requested Availability "
                f"Zone ({pool.zone}). Please retry your request by not specifying an Availability Zone or choosing "
                "another one.",
            )
        if pool.spot and max_price is not None:
            self._check_price(pool, max_price)
        if self.has(pool):
            return
        if pool.spot:
            raise _no_capacity("There is no Spot capacity available that matches your request.")
        others = [each for each in zones if self.has(Pool(pool.region, each, pool.instance_type, pool.spot))]
        elsewhere = (
            f" You can currently get {pool.instance_type} capacity by not specifying an Availability Zone in your "
            f"request or choosing {', '.join(others)}."
        )
        raise _no_capacity(
            f"We currently do not have sufficient {pool.instance_type} capacity in the Availability Zone you requested "
            f"({pool.zone}). Our system will be working on provisioning additional capacity."
            + (elsewhere if others else "")
        )

    def _check_price(self, pool: Pool, max_price: str) -> None:
        zone = dict(REGIONS[pool.region].zones).get(pool.zone, pool.zone)
        price = spot_price(pool.instance_type, zone, pool.region, int(self._clock.now() // _STEP_S))
        if float(max_price) < price:
            raise AwsError(
                "SpotMaxPriceTooLow",
                f"Your Spot request price of {max_price} is lower than the minimum required Spot request fulfillment "
                f"price of {price}.",
            )

    def check_quota(
        self, pool: Pool, count: int, instances: Iterable[Instance], reserved: Iterable[CapacityReservation]
    ) -> None:
        """Raise EC2's refusal of so many more instances than the account's vCPU quota allows.

        Instances that are `reserved` count, whether they run or not.
        """
        key = VcpuKey.of(pool.region, pool.instance_type, spot=pool.spot)
        used = sum(vcpus_of(each.reservation.instance_type) or 0 for each in instances if self._counts(each, key))
        used += sum(
            (vcpus_of(each.instance_type) or 0) * each.total
            for each in reserved
            if VcpuKey.of(each.region, each.instance_type, spot=False) == key
        )
        limit = self._quotas.limit(key)
        if used + count * (vcpus_of(pool.instance_type) or 0) <= limit:
            return
        if pool.spot:
            raise AwsError("MaxSpotInstanceCountExceeded", "Max spot instance count exceeded")
        raise AwsError(
            "VcpuLimitExceeded",
            f"You have requested more vCPU capacity than your current vCPU limit of {limit} allows for the instance "
            "bucket that the specified instance type belongs to. Please visit "
            "http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit.",
        )

    def _counts(self, instance: Instance, key: VcpuKey) -> bool:
        reservation = instance.reservation
        if VcpuKey.of(instance.region, reservation.instance_type, spot=reservation.spot) != key:
            return False
        kept = instance.reserved_by
        if kept is not None and kept.state(self._clock.now()) == "active":
            return False  # its reservation counts
        recently = instance.state != "stopped" and self._clock.now() - (instance.ended or 0.0) < COUNTED_FOR_S
        return instance.state in (*ALIVE, "shutting-down") or recently


def _no_capacity(message: str) -> AwsError:
    return AwsError("InsufficientInstanceCapacity", message, 500)
