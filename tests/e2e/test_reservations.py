"""A sweep on instances that are paid for already: a capacity reservation of EC2, some of which others use."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator import read
from orchestrator.aws.session import Clients
from orchestrator.catalog.files.observe import Observed
from orchestrator.platforms.ec2.feeds import reserved
from tests.localcloud.services.ec2.conftest import InstanceDesk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.fixtures.team import Team

pytestmark = [pytest.mark.parametrize("database_url", ["sqlite"], indirect=True), pytest.mark.long]

REGION, ZONE, TYPE = "eu-west-1", "eu-west-1b", "c5.xlarge"
SWEEP = f"""
name: reserved
data: {{campaigns: [coast]}}
train:
  source: training
  entry_point: train.py
  environment: {{BROKEN: none}}
  metrics: {{loss: 'loss=([-+.0-9e]+)'}}
space: {{x: [1, 2, 3]}}
where: {{platforms: [ec2], instance_types: [{TYPE}], purchases: [committed]}}
runtime: 0.01
timeout: 10m
"""


def refresh(team: Team) -> dict[str, Any]:
    """Read the Region's reservations into the catalog, and return the one there is."""
    now = datetime.now(timezone.utc)
    catalog = team.orchestrator().catalog
    catalog.observe(
        Observed(reserved.FEED.name, "commitments", REGION, now, reserved.read(Clients(), REGION, now).rows)
    )
    (row,) = catalog.show("commitments")
    return dict(row)


@pytest.fixture
def reservation(client: Callable[..., Any]) -> Iterator[str]:
    """Three instances in one zone, for those who name the reservation."""
    ec2 = client("ec2", REGION)
    asked = {"InstanceType": TYPE, "InstancePlatform": "Linux/UNIX", "AvailabilityZone": ZONE, "InstanceCount": 3}
    made = ec2.create_capacity_reservation(**asked, InstanceMatchCriteria="targeted")["CapacityReservation"]
    yield made["CapacityReservationId"]
    ec2.cancel_capacity_reservation(CapacityReservationId=made["CapacityReservationId"])


def test_a_reservation_is_planned_used_and_costs_nothing_more(
    team: Team, name: str, reservation: str, client: Callable[..., Any]
) -> None:
    others = InstanceDesk(client, name, REGION)
    target = {"CapacityReservationTarget": {"CapacityReservationId": reservation}}
    placed = {"Placement": {"AvailabilityZone": ZONE}, "CapacityReservationSpecification": target}
    others.launch(InstanceType=TYPE, **placed)
    assert refresh(team)["slots"] == 2, "somebody else has one of three"

    file = team.folder / "sweep.yaml"
    file.write_text(SWEEP)
    plan = team.orchestrator().plan(read(file))
    (lot,) = plan.lots
    assert (lot.site.rpartition("/")[2], lot.used, lot.usd_per_hour, plan.usd) == (reservation, 2, 0, 0)
    run = team.orchestrator().submit(plan, name=name)
    *_, last = run.watch(every_s=0.3)
    assert last.state == "done", [row.note for row in run.results()]
    assert [(row.task, row.purchase, row.usd) for row in run.results()] == [(task, "committed", 0) for task in range(3)]
    (cost,) = run.cost()
    assert (cost.purchase, cost.tasks, cost.usd) == ("committed", 3, 0)
    assert cost.hours > 0

    here = [{"Name": "capacity-reservation-id", "Values": [reservation]}, {"Name": "tag:sweep:run", "Values": [name]}]
    found = client("ec2", REGION).describe_instances(Filters=here)["Reservations"]
    ran = [instance for one in found for instance in one["Instances"]]
    assert {instance["Placement"]["AvailabilityZone"] for instance in ran} == {ZONE}
    assert len({tag["Value"] for one in ran for tag in one["Tags"] if tag["Key"] == "sweep:task"}) == 3
    others.end()
