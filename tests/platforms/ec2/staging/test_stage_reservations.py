"""Which reservations a run may use, and the plans that are refused for theirs before anything is written."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

import pytest

from orchestrator.errors import NotFound
from orchestrator.platforms.ec2.staging.stage_reservations import stage_reservations
from tests.platforms.ec2.ec2_sweeps import ec2_sweep
from tests.platforms.feeds.answers import Answers
from tests.platforms.feeds.test_reserved import reservation
from tests.platforms.sweeps import staging

ZONES = ("eu-west-1a", "eu-west-1b")
PAST = datetime(2020, 1, 1, tzinfo=timezone.utc)
THERE = (
    reservation("cr-far", AvailabilityZone="eu-west-1c"),
    reservation("cr-ours", AvailabilityZone="eu-west-1b"),
    reservation(
        "cr-block",
        AvailabilityZone="eu-west-1a",
        ReservationType="capacity-block",
        EndDate=datetime.max.replace(tzinfo=timezone.utc),
    ),
    reservation("cr-other", InstanceType="c5.large"),
    reservation("cr-windows", InstancePlatform="Windows"),
    reservation("cr-over", EndDate=PAST),
)


def staged(*sites: str, purchases: tuple[str, ...] = ("committed",)) -> dict[str, dict[str, Any]]:
    sweep = ec2_sweep()
    where = sweep.where.model_validate({**sweep.where.model_dump(), "purchases": list(purchases)})
    asked = replace(staging(sweep.model_copy(update={"where": where})), sites=sites)
    clients: Any = Answers({"CapacityReservations": list(THERE)})
    return stage_reservations(asked, ["g5.xlarge"], ZONES, clients)


def test_a_run_knows_the_reservations_of_its_types_with_their_zones() -> None:
    assert staged("arn:aws:ec2:eu-west-1:111122223333:capacity-reservation/cr-ours") == {
        "cr-block": {"zone": "eu-west-1a", "block": True},
        "cr-far": {"zone": "eu-west-1c", "block": False},
        "cr-ours": {"zone": "eu-west-1b", "block": False},
    }


def test_a_sweep_that_may_use_none_asks_for_none() -> None:
    assert staged(purchases=("spot", "on_demand")) == {}


@pytest.mark.parametrize(
    ("site", "says"),
    [
        ("cr-gone", "the reservation cr-gone is over, or is not shared with this account"),
        ("cr-over", "the reservation cr-over is over"),
        ("cr-windows", "the reservation cr-windows has the InstancePlatform Windows"),
        ("cr-far", "there is no subnet in eu-west-1c, where the reservation cr-far is"),
    ],
)
def test_a_plan_whose_reservation_cannot_be_used_is_refused(site: str, says: str) -> None:
    with pytest.raises(NotFound, match=says):
        staged(f"arn:aws:ec2:eu-west-1:111122223333:capacity-reservation/{site}")
