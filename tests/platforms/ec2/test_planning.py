"""What can be planned on EC2: which lanes there are, what they count, what is refused of a sweep."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.errors import AlreadyExists, NoCapacity, QuotaExceeded, SettingsError, Throttled
from orchestrator.platforms.ec2.planning import Ec2Planning
from orchestrator.platforms.ec2.sent.refusals import kind_of_refusal
from orchestrator.wire.task import Lane, Purchase
from tests.platforms.ec2.ec2_sweeps import ec2_sweep

PLANNING = Ec2Planning({})


def lane(instance_type: str, purchase: Purchase = Purchase.ON_DEMAND) -> Lane:
    return Lane("ec2", "eu-west-1", instance_type, purchase)


@pytest.mark.parametrize(
    ("instance_type", "purchase", "uses"),
    [
        ("g5.xlarge", Purchase.ON_DEMAND, {"L-DB2E81BA": 4}),
        ("g5.xlarge", Purchase.SPOT, {"L-3819A6DF": 4}),
        ("p5.48xlarge", Purchase.SPOT, {"L-7212CCBC": 192}),
        ("c7g.4xlarge", Purchase.ON_DEMAND, {"L-1216C47A": 16}),
        ("trn1.32xlarge", Purchase.ON_DEMAND, {"L-2C3B7624": 128}),
        ("t3.medium", Purchase.SPOT, {"L-34B43A08": 2}),
    ],
)
def test_a_lane_counts_its_vcpus_under_the_quota_of_its_family(
    instance_type: str, purchase: Purchase, uses: dict[str, int]
) -> None:
    assert PLANNING.refuses(lane(instance_type)) == ""
    assert PLANNING.uses(lane(instance_type, purchase)) == uses


def test_a_reservation_counts_under_itself() -> None:
    assert PLANNING.uses(lane("p5.48xlarge", Purchase.COMMITTED), "cr-0123") == {"cr-0123": 1}


def test_a_type_that_ec2_does_not_have_is_refused() -> None:
    assert "EC2 calls it g5.xlarge" in PLANNING.refuses(lane("ml.g5.xlarge"))


@pytest.mark.parametrize("instance_type", ["x2idn.16xlarge", "u-6tb1.112xlarge", "mac2.metal", "c7g.metal"])
def test_a_type_of_unknown_quota_has_its_price_and_no_training(instance_type: str) -> None:
    assert PLANNING.refuses(lane(instance_type)) == ""
    assert "is not known here" in PLANNING.excludes(ec2_sweep(), lane(instance_type))
    assert PLANNING.uses(lane(instance_type)) == {}


@pytest.mark.parametrize(
    ("train", "ec2", "complaint"),
    [
        ({"parallel": "smddp"}, {}, "smddp is SageMaker's own"),
        ({}, {"ami": "my-image"}, "not an image: 'my-image'"),
        ({}, {"ami": "ami-0123456789"}, "not an image: 'ami-0123456789'"),
        ({}, {"key_name": " mine"}, "not the name of a key pair: ' mine'"),
        ({}, {"colour": "blue"}, "unknown key 'colour'"),
        ({}, {"network": {"eu-west-1": {"subnets": ["subnet-x"]}}}, "'subnet-x' is no id of one"),
    ],
)
def test_what_cannot_be_done_of_a_sweep_is_complained_of(
    train: dict[str, Any], ec2: dict[str, Any], complaint: str
) -> None:
    found = list(PLANNING.check(ec2_sweep(train, platforms={"ec2": ec2})))
    assert [one.message for one in found] == [complaint]


def test_a_region_without_what_others_have_is_left_out() -> None:
    asked = ec2_sweep(platforms={"ec2": {"ami": {"us-east-1": "ami-0123456789abcdef0"}}})
    assert PLANNING.excludes(asked, lane("g5.xlarge")) == "platforms.ec2.ami has no image in eu-west-1"


def test_settings_that_cannot_be_are_refused() -> None:
    with pytest.raises(SettingsError, match=r"platforms\.ec2"):
        Ec2Planning({"instance_profile": "a profile"})


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("InsufficientInstanceCapacity", NoCapacity),
        ("SpotMaxPriceTooLow", NoCapacity),
        ("Unsupported", NoCapacity),
        ("ReservationCapacityExceeded", NoCapacity),
        ("InvalidCapacityReservationState", NoCapacity),
        ("InvalidCapacityReservationId.NotFound", NoCapacity),
        ("VcpuLimitExceeded", QuotaExceeded),
        ("MaxSpotInstanceCountExceeded", QuotaExceeded),
        ("RequestLimitExceeded", Throttled),
        ("IdempotentParameterMismatch", AlreadyExists),
        ("InvalidAMIID.NotFound", None),
    ],
)
def test_capacity_and_quota_are_told_apart(code: str, kind: type[Exception] | None) -> None:
    assert kind_of_refusal(code) is kind
