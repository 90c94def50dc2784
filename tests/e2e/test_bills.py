"""Every dollar of a run, recomputed from the documented rules alone: planned, booked and billed are what they say."""

from __future__ import annotations

from collections import defaultdict
from math import exp
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator import read

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fixtures.team import Team

pytestmark = [pytest.mark.parametrize("database_url", ["sqlite"], indirect=True), pytest.mark.long]

ON_DEMAND, SPOT = 300.0, 90.0
"""Dollars of an hour of ml.c5.xlarge in us-east-1."""
PER_HOUR, RESTART_H = 0.05, 0.1
"""What docs/planner-model.md says of interruptions where nothing is known of the lane."""
SPEED = {1: 1.0, 2: 2**0.9}
SWEEP = """
name: bills
data: {{campaigns: [alps]}}
train:
  source: training
  entry_point: train.py
  image: "{{account}}.dkr.ecr.{{region}}.amazonaws.com/small:1"
  environment: {{BROKEN: {broken}}}
  instances: {instances}
space: {{x: [1, 2, 3]}}
where: {{instance_types: [ml.c5.xlarge], purchases: [{purchase}]}}
runtime: 0.001 * x
timeout: 10m
"""


def planned_usd(x: float, purchase: str, instances: int) -> float:
    hours = 0.001 * x / SPEED[instances]
    if purchase == "spot":
        return (1 / PER_HOUR + RESTART_H) * (exp(PER_HOUR * hours) - 1) * SPOT * instances
    return hours * ON_DEMAND * instances


@pytest.mark.parametrize(("purchase", "instances"), [("spot", 1), ("on_demand", 2), ("spot", 2)])
def test_planned_booked_and_billed_are_what_the_documented_rules_say(
    team: Team, name: str, client: Callable[..., Any], purchase: str, instances: int
) -> None:
    lane = "us-east-1,ml.c5.xlarge"
    prices = [f"{lane},on_demand,{ON_DEMAND},2026-11-02", f"{lane},spot,{SPOT},2026-11-02"]
    team.learns("prices", "region,instance_type,purchase,usd_per_hour,observed_at", *prices)
    file = team.folder / "sweep.yaml"
    file.write_text(SWEEP.format(broken=team.broken, instances=instances, purchase=purchase).removeprefix("\n"))
    plan = team.orchestrator().plan(read(file))
    for share in plan.shares:
        for number in range(share.first, share.first + share.count):
            x = float(plan.task(number, code="c0de").point["x"])
            assert share.usd == pytest.approx(planned_usd(x, purchase, instances), rel=1e-3)

    team.breaks(2)
    run = team.orchestrator().submit(plan, name=name)
    *_, last = run.watch(every_s=0.3)
    assert last.state == "partly_failed"
    team.breaks()
    run.retry()
    *_, last = run.watch(every_s=0.3)
    assert last.state == "done"

    usd: defaultdict[int, float] = defaultdict(float)
    billed: defaultdict[int, float] = defaultdict(float)
    rows = run.results()
    for row in rows:
        for attempt in range(1, row.attempt + 1):
            job = client("sagemaker").describe_training_job(TrainingJobName=f"{name}-{row.task}-{attempt}")
            assert job["ResourceConfig"]["InstanceCount"] == row.instances == instances
            billed[row.task] += job["BillableTimeInSeconds"] * instances
            usd[row.task] += job["BillableTimeInSeconds"] / 3600 * ON_DEMAND * instances
    assert {row.task: row.attempt for row in rows} == {0: 1, 1: 2, 2: 1}
    assert {row.task: row.usd for row in rows} == pytest.approx(usd)
    assert {row.task: row.billable_s for row in rows} == pytest.approx(billed)
    (cost,) = run.cost()
    assert (cost.platform, cost.purchase, cost.tasks) == ("sagemaker", purchase, 3)
    assert cost.usd == pytest.approx(sum(usd.values()))
    assert cost.hours == pytest.approx(sum(billed.values()) / 3600)
