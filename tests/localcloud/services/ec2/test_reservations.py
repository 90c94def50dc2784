"""Capacity reservations: who takes their instances, what is refused, and what they count for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.localcloud.clock import Clock
from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.services.ec2.capacity import Capacity, Pool
from orchestrator.localcloud.services.ec2.kept import CapacityReservation
from orchestrator.localcloud.services.ec2.vcpus import VcpuKey, VcpuQuotas
from tests.localcloud.conftest import eventually
from tests.localcloud.services.ec2.conftest import refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.localcloud.services.ec2.conftest import InstanceDesk

ZONE = "us-east-1b"


class Reserving:
    """Makes reservations, and cancels them in the end."""

    def __init__(self, desk: InstanceDesk) -> None:
        self.ec2 = desk.ec2
        self.made: list[str] = []
        subnets = desk.ec2.describe_subnets(Filters=[{"Name": "availability-zone", "Values": [ZONE]}])["Subnets"]
        self.subnet = subnets[0]["SubnetId"]

    def make(self, count: int, **more: Any) -> str:
        usual = {"InstanceType": "c5.large", "InstancePlatform": "Linux/UNIX", "AvailabilityZone": ZONE}
        asked = {**usual, "InstanceMatchCriteria": "targeted", "InstanceCount": count, **more}
        self.made.append(self.ec2.create_capacity_reservation(**asked)["CapacityReservation"]["CapacityReservationId"])
        return self.made[-1]

    def counts(self, name: str) -> tuple[int, int]:
        """Return how many instances a reservation has, and how many are free."""
        (found,) = self.ec2.describe_capacity_reservations(CapacityReservationIds=[name])["CapacityReservations"]
        return found["TotalInstanceCount"], found["AvailableInstanceCount"]

    def into(self, name: str, **more: Any) -> dict[str, Any]:
        target = {"CapacityReservationTarget": {"CapacityReservationId": name}}
        return {"SubnetId": self.subnet, "CapacityReservationSpecification": target, **more}


@pytest.fixture
def reserving(desk: InstanceDesk) -> Iterator[Reserving]:
    found = Reserving(desk)
    yield found
    for each in found.ec2.describe_capacity_reservations()["CapacityReservations"]:
        if each["CapacityReservationId"] in found.made and each["State"] == "active":
            found.ec2.cancel_capacity_reservation(CapacityReservationId=each["CapacityReservationId"])


def test_instances_that_name_a_reservation_take_its_places_until_it_is_full(
    desk: InstanceDesk, reserving: Reserving
) -> None:
    name = reserving.make(2)
    assert reserving.counts(name) == (2, 2)
    (first,) = desk.launch(**reserving.into(name))
    assert (first["CapacityReservationId"], first["Placement"]["AvailabilityZone"]) == (name, ZONE)
    assert reserving.counts(name) == (2, 1)
    assert desk.refused(MinCount=2, MaxCount=2, **reserving.into(name)) == "ReservationCapacityExceeded"
    desk.launch(**reserving.into(name))
    assert desk.refused(**reserving.into(name)) == "ReservationCapacityExceeded"
    assert eventually(lambda: len(desk.mine()) == 2)
    desk.ec2.terminate_instances(InstanceIds=[first["InstanceId"]])
    assert eventually(lambda: reserving.counts(name) == (2, 1))


def test_an_open_reservation_takes_what_fits_unless_that_says_no(desk: InstanceDesk, reserving: Reserving) -> None:
    name = reserving.make(1, InstanceMatchCriteria="open")
    here = {"SubnetId": reserving.subnet}
    none = {"CapacityReservationSpecification": {"CapacityReservationPreference": "none"}}
    assert "CapacityReservationId" not in desk.launch(**here, **none)[0]
    assert "CapacityReservationId" not in desk.launch(**here, InstanceMarketOptions={"MarketType": "spot"})[0]
    assert desk.launch(**here)[0]["CapacityReservationId"] == name
    assert "CapacityReservationId" not in desk.launch(**here)[0], "it is full, and others are bought on demand"
    assert eventually(lambda: len(desk.mine()) == 4)  # so that all are ended


def test_a_launch_that_a_reservation_does_not_fit_is_refused(desk: InstanceDesk, reserving: Reserving) -> None:
    name = reserving.make(1)
    spot = {"InstanceMarketOptions": {"MarketType": "spot"}}
    for changes, code in (
        (reserving.into("cr-0123456789abcdef0"), "InvalidCapacityReservationId.NotFound"),
        (reserving.into(name, InstanceType="c5.xlarge"), "InvalidParameterValue"),
        (reserving.into(name, SubnetId=None, Placement={"AvailabilityZone": "us-east-1a"}), "InvalidParameterValue"),
        (reserving.into(name, **spot), "InvalidParameterCombination"),
    ):
        assert (changes, desk.refused(**changes)) == (changes, code)
    windows = reserving.make(1, InstancePlatform="Windows")
    assert desk.refused(**reserving.into(windows)) == "InvalidParameterValue"
    desk.ec2.cancel_capacity_reservation(CapacityReservationId=name)
    assert desk.refused(**reserving.into(name)) == "InvalidCapacityReservationState"


def test_what_is_reserved_counts_under_the_quota_whether_it_runs_or_not() -> None:
    quotas = VcpuQuotas()
    pool = Pool("us-east-1", ZONE, "c5.large", spot=False)
    granted = quotas.limit(VcpuKey.of("us-east-1", "c5.large", spot=False)) // 2
    asked = {"InstanceType": "c5.large", "AvailabilityZone": ZONE, "InstanceCount": granted - 1}
    kept = CapacityReservation("cr-1", "us-east-1", asked, 0.0, None)
    capacity = Capacity(Clock(), quotas)
    capacity.check_quota(pool, 1, [], [kept])
    with pytest.raises(AwsError, match="more vCPU capacity"):
        capacity.check_quota(pool, 2, [], [kept])


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"InstanceCount": 0}, "InvalidParameterValue"),
        ({"InstanceType": "x9.huge"}, "InvalidParameterValue"),
        ({"AvailabilityZone": "us-east-1z"}, "InvalidParameterValue"),
        ({"EndDateType": "limited"}, "InvalidParameterCombination"),
        ({"EndDateType": "limited", "EndDate": 1}, "InvalidParameterValue"),
        ({"PlacementGroupArn": "arn:aws:ec2:us-east-1:123456789012:placement-group/x"}, "UnsupportedOperation"),
    ],
)
def test_a_reservation_that_nobody_can_make_is_refused(
    reserving: Reserving, changes: dict[str, Any], code: str
) -> None:
    usual = {"InstanceType": "c5.large", "InstancePlatform": "Linux/UNIX", "AvailabilityZone": ZONE, "InstanceCount": 1}
    assert refused(reserving.ec2.create_capacity_reservation, **{**usual, **changes}) == code
