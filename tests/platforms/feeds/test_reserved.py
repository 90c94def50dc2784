"""Capacity reservations of EC2: which are lanes, how many of their instances are free, and what they use of quotas."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.catalog.files.observe import Observed
from orchestrator.errors import CloudError
from orchestrator.platforms.ec2.feeds import reserved, vcpu_use
from tests.catalog.platforms import make_catalog

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.platforms.feed import Reading

NOW = datetime(2026, 11, 22, tzinfo=timezone.utc)
DAY = timedelta(days=1)
ACCOUNT = "111122223333"
G5 = "L-DB2E81BA"


def reservation(name: str = "cr-1", **facts: Any) -> dict[str, Any]:
    """A reservation as AWS tells it: active, without an end, with four instances of which nobody uses any."""
    owner = facts.get("OwnerId", ACCOUNT)
    usual = {
        "CapacityReservationId": name,
        "CapacityReservationArn": f"arn:aws:ec2:us-east-1:{owner}:capacity-reservation/{name}",
        "OwnerId": owner,
        "ReservationType": "default",
        "State": "active",
        "InstanceType": "g5.xlarge",
        "InstancePlatform": "Linux/UNIX",
        "AvailabilityZone": "us-east-1a",
        "Tenancy": "default",
        "InstanceMatchCriteria": "open",
        "TotalInstanceCount": 4,
        "AvailableInstanceCount": 4,
        "StartDate": NOW - DAY,
        "CreateDate": NOW - DAY,
        "EndDateType": "unlimited",
    }
    return usual | facts


BLOCK = {"ReservationType": "capacity-block", "InstanceMatchCriteria": "targeted", "EndDate": NOW + 3 * DAY}


def instance(cr: str = "", *, run: str = "", was_sent: bool = True) -> dict[str, Any]:
    """An instance that runs, perhaps in a reservation, perhaps as part of a run of ours."""
    target = {"CapacityReservationTarget": {"CapacityReservationId": cr}}
    return {
        "InstanceId": "i-0",
        "State": {"Name": "running"},
        "LaunchTime": NOW,
        "InstanceType": "g5.xlarge",
        "Tags": [{"Key": "sweep:run", "Value": run}] if run else [],
        **({"CapacityReservationId": cr} if cr else {}),
        "CapacityReservationSpecification": target if was_sent else {"CapacityReservationPreference": "open"},
    }


class Ec2:
    """A Region with these reservations, a page each, and these instances."""

    def __init__(self, *reservations: dict[str, Any], running: tuple[dict[str, Any], ...] = ()) -> None:
        self.reservations, self.running = reservations, running

    def client(self, _: str, region: str) -> Ec2:
        assert region == "us-east-1"
        return self

    def get_caller_identity(self) -> dict[str, Any]:
        return {"Account": ACCOUNT}

    def get_paginator(self, operation: str) -> Any:
        return {"describe_capacity_reservations": Listed(self), "describe_instances": Running(self)}[operation]


class Listed:
    def __init__(self, ec2: Ec2) -> None:
        self.ec2 = ec2

    def paginate(self) -> Iterator[dict[str, Any]]:
        yield from ({"CapacityReservations": [each]} for each in self.ec2.reservations)
        yield {"CapacityReservations": []}


class Running(Listed):
    def paginate(self, Filters: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:  # noqa: N803 (boto3's name)
        ours = {"Name": "tag-key", "Values": ["sweep:run"]} in Filters
        yield {"Reservations": [{"Instances": [one for one in self.ec2.running if one["Tags"] or not ours]}]}


def read(*reservations: dict[str, Any], running: tuple[dict[str, Any], ...] = ()) -> Reading:
    ec2: Any = Ec2(*reservations, running=running)
    return reserved.read(ec2, "us-east-1", NOW)


def slots(reading: Reading) -> dict[str, int]:
    return {str(row["commitment"]).partition("/")[2]: int(str(row["slots"])) for row in reading.rows}


def test_a_reservation_lasts_until_it_is_cancelled_and_a_block_until_its_end() -> None:
    found = read(reservation(), reservation("cr-2", **BLOCK), reservation("cr-3", EndDate=NOW + DAY))
    assert [(row["commitment"], row["kind"], row["ends_at"], row["arn"]) for row in found.rows] == [
        ("us-east-1/cr-1", "reservation", None, f"arn:aws:ec2:us-east-1:{ACCOUNT}:capacity-reservation/cr-1"),
        (
            "us-east-1/cr-2",
            "training_plan",
            NOW + 3 * DAY,
            f"arn:aws:ec2:us-east-1:{ACCOUNT}:capacity-reservation/cr-2",
        ),
        ("us-east-1/cr-3", "reservation", NOW + DAY, f"arn:aws:ec2:us-east-1:{ACCOUNT}:capacity-reservation/cr-3"),
    ]
    assert found.left_out == ()


def test_slots_are_what_nobody_uses_and_what_was_launched_there_for_our_runs() -> None:
    running = (
        instance("cr-1", run="nightly"),
        instance("cr-1", run="nightly"),
        instance("cr-1"),  # somebody else's
        instance("cr-2", run="nightly", was_sent=False),  # on demand, and fell into an open reservation
        instance(run="nightly"),
    )
    found = read(reservation(AvailableInstanceCount=1), reservation("cr-2", AvailableInstanceCount=3), running=running)
    assert slots(found) == {"cr-1": 3, "cr-2": 3}


def test_a_full_reservation_has_no_slots_and_one_to_come_has_all() -> None:
    later = {"State": "scheduled", "AvailableInstanceCount": 0, "StartDate": NOW + DAY}
    found = read(reservation(AvailableInstanceCount=0), reservation("cr-2", **later))
    assert slots(found) == {"cr-1": 0, "cr-2": 4}
    assert found.rows[1]["starts_at"] == NOW + DAY


@pytest.mark.parametrize("state", ["expired", "cancelled", "pending", "failed", "payment-pending", "unsupported"])
def test_what_is_not_there_is_neither_a_lane_nor_told(state: str) -> None:
    assert read(reservation(State=state)) == read()
    assert read(reservation(EndDate=NOW)) == read(), "it is over, whatever its state is still called"


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ({"InstancePlatform": "Windows"}, "cr-1 (g5.xlarge) has the InstancePlatform Windows"),
        ({"Tenancy": "dedicated"}, "cr-1 (g5.xlarge) has the Tenancy dedicated"),
        ({"InstanceMatchCriteria": "nobody"}, "cr-1 (g5.xlarge) has the InstanceMatchCriteria nobody"),
        ({"PlacementGroupArn": "arn:pg"}, "cr-1 (g5.xlarge) is for one placement group"),
        ({"OutpostArn": "arn:op"}, "cr-1 (g5.xlarge) is on an Outpost"),
        ({"Interruptible": True}, "cr-1 (g5.xlarge) may be taken back"),
        ({**BLOCK, "EndDate": None}, "cr-1 (g5.xlarge) is a capacity block without an end"),
    ],
)
def test_one_that_trainings_cannot_run_in_is_left_out_and_told(facts: dict[str, Any], says: str) -> None:
    found = read(reservation(**facts), reservation("cr-2"))
    assert (slots(found), found.left_out) == ({"cr-2": 4}, (says,))


def test_one_that_is_shared_with_us_is_ours_to_use() -> None:
    found = read(reservation(OwnerId="999988887777", InstanceMatchCriteria="targeted"))
    assert found.rows[0]["arn"] == "arn:aws:ec2:us-east-1:999988887777:capacity-reservation/cr-1"


@pytest.mark.parametrize("lost", ["State", "AvailabilityZone", "TotalInstanceCount", "AvailableInstanceCount"])
def test_an_answer_that_lacks_something_is_no_answer(lost: str) -> None:
    broken = reservation()
    del broken[lost]
    with pytest.raises(CloudError, match=f"could not list the capacity reservations.*{lost}"):
        read(reservation("cr-2"), broken)


def test_what_others_take_is_seen_by_the_next_refresh_and_what_is_gone_leaves_the_catalog(database_url: str) -> None:
    catalog = make_catalog(database_url)

    def told(*reservations: dict[str, Any]) -> list[tuple[Any, Any, Any]]:
        rows = read(*reservations).rows
        catalog.observe(Observed(reserved.FEED.name, reserved.FEED.kind, "us-east-1", NOW, rows))
        return [(row["kind"], row["slots"], row["ends_at"]) for row in catalog.show("commitments")]

    assert told(reservation()) == [("reservation", 4, None)]
    assert told(reservation(AvailableInstanceCount=1)) == [("reservation", 1, None)]
    assert told() == []


def test_a_reservation_of_ours_uses_its_quota_whole_and_no_instance_counts_twice() -> None:
    running = (instance("cr-1"), instance(), instance("cr-4"))
    ec2: Any = Ec2(
        reservation(),
        reservation("cr-2", **BLOCK),
        reservation("cr-3", State="scheduled"),
        reservation("cr-4", OwnerId="999988887777"),
        running=running,
    )
    used = {row["quota"]: row["used"] for row in vcpu_use.read(ec2, "us-east-1", NOW).rows}
    assert used[G5] == 4 * 4 + 4, "four that are reserved, and one that is not"
