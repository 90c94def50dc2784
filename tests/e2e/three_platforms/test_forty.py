"""Forty tasks over three platforms in four Regions, and whatever befalls machines, Regions and capacity there."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from orchestrator.wire.result import Cause, TaskState
from tests.e2e.three_platforms.audit import check_costs, check_done_once, check_nothing_left
from tests.e2e.three_platforms.company import REGIONS, TYPES

if TYPE_CHECKING:
    from orchestrator import Plan
    from orchestrator.localcloud import LocalCloud
    from tests.e2e.three_platforms.company import Company
    from tests.fixtures.witness import Witness

LACKING = "eu-west-1"
"""The Region in which EC2 and EKS have no spot machines, and SageMaker none for a moment."""
AWAY = "eu-central-1"
"""The Region that answers nobody for a while, once trainings run there."""
AWAY_S = 6.0
STRIKES = (
    ("us-east-1", "sagemaker", "reclaim"),
    ("us-east-1", "ec2", "reclaim"),
    ("us-east-1", "eks", "reclaim"),
    ("us-west-2", "sagemaker", "crash"),
    ("us-west-2", "ec2", "crash"),
    ("us-west-2", "eks", "crash"),  # its node is lost
    ("us-west-2", "eks", "evict"),
    ("us-east-1", "eks", "kill"),
)
"""What befalls the first training of a task of this Region and platform, once it runs."""


class Strikes:
    """Hits certain trainings while they are held, each once."""

    def __init__(self, cloud: LocalCloud, witness: Witness, company: Company, plan: Plan, run: str) -> None:
        self._steering = cloud.steering
        self._witness = witness
        self._company = company
        self._run = run
        self._is_away = False
        waiting = _first_tasks(plan)
        self.left: dict[str, str] = {}
        """The trainings that are still to be hit, each with what befalls it."""
        for region, platform, kind in STRIKES:
            training = f"{run}-{waiting[region, platform].pop(0)}-1"
            self.left[training] = kind
            company.hold(training)
        self.hit: dict[str, str] = {}

    def go_on(self) -> None:
        """Hit those that have begun."""
        begun = self._company.noted(self._run, "begun")
        for training, kind in list(self.left.items()):
            if training in begun:
                # Whoever looks for what is left must be able to see it.
                assert any(training in line for line in self._witness.left(self._run)), training
                self._steering.add(kind, training, seconds=2.0)
                self.hit[training] = self.left.pop(training)
        for training in self.hit:
            if len(begun[training]) > 1:  # SageMaker starts it again under the same name
                (self._company.marks(self._run) / f"{training}.held").unlink(missing_ok=True)
        if not self._is_away and any(_region_of(training) == AWAY for training in begun):
            self._is_away = True
            self._steering.add("down", "*", region=AWAY, lasts=AWAY_S)


def _first_tasks(plan: Plan) -> dict[tuple[str, str], list[int]]:
    """Return the tasks that each platform of each Region is the first choice of."""
    found = defaultdict(list)
    for share in plan.shares:
        lane = share.places[0].lane
        found[lane.region, lane.platform] += range(share.first, share.first + share.count)
    return found


def _region_of(training: str) -> str:
    """Return the Region of a training's data: there are ten tasks of each campaign."""
    return REGIONS[int(training.rsplit("-", 2)[1]) // 10]


@pytest.mark.long
def test_forty_tasks_are_done_once_whatever_befalls_them(
    company: Company, witness: Witness, cloud: LocalCloud, name: str
) -> None:
    plan = company.plan(10, retries=2, patience="3s")
    assert {(share.places[0].lane.platform, share.places[0].lane.region) for share in plan.shares} == {
        (platform, region) for platform in TYPES for region in REGIONS
    }
    strikes = Strikes(cloud, witness, company, plan, name)
    lacking = {"region": LACKING, "purchase": "spot"}
    cloud.steering.add("capacity", **lacking, instance_type=TYPES["ec2"], seconds=3600.0)
    cloud.steering.add("capacity", **lacking, instance_type=TYPES["sagemaker"], seconds=5.0)
    cloud.steering.add("throttle", "ec2:RunInstances", percent=25, seed=16)
    cloud.steering.add("error", "kubernetes:CreateJob", percent=25, seed=16, after=True)
    cloud.steering.add("throttle", "sagemaker:CreateTrainingJob", percent=25, seed=16)

    orchestrator = company.orchestrator()
    run = orchestrator.submit(plan, name=name)
    for _ in run.watch(every_s=0.5):
        strikes.go_on()
    assert run.status().state == "done", run.results()
    assert strikes.left == {}
    cloud.steering.remove()

    check_done_once(company, witness, run, 40)
    assert check_costs(company, witness, run) > 0
    check_nothing_left(witness, orchestrator, run)

    outcomes = [one for task in run.ledger.known(name) for one in task.result.outcomes]
    ended = {one.training: one for one in outcomes}
    again = {
        training
        for training, kind in strikes.hit.items()
        if kind == "reclaim" and "sagemaker" in ended[training].lane.platform
    }
    assert {training for training in strikes.hit if ended[training].state is TaskState.DONE} == again
    refused = {(one.lane.platform, one.lane.region) for one in outcomes if one.cause is Cause.CAPACITY}
    lacking = {("ec2", LACKING), ("eks", LACKING)}
    # Where a pod is struck, the next one may wait for its room for longer than patience.
    struck = {(platform, region) for region, platform, _ in STRIKES if platform == "eks"}
    assert lacking <= refused <= lacking | struck
