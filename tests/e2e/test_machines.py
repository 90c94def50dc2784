"""Which machines a task gets: the type that there is of several, and a number of them that fits the task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from orchestrator import read

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator import Plan
    from orchestrator.localcloud import LocalCloud
    from tests.fixtures.team import Team

pytestmark = [pytest.mark.parametrize("database_url", ["sqlite"], indirect=True), pytest.mark.long]

SWEEP = """
name: machines
data: {campaigns: [alps]}
train:
  source: training
  entry_point: train.py
  image: "{account}.dkr.ecr.{region}.amazonaws.com/small:1"
  environment: {BROKEN: none}
  metrics: {loss: 'loss=([-+.0-9e]+)'}
"""
BOTH = """
space: {x: [1, 2]}
where: {instance_types: [ml.c5.xlarge, ml.c5.2xlarge], purchases: [on_demand]}
runtime: 0.01
timeout: 10m
platforms: {sagemaker: {instance_preferences: true}}
"""
EITHER = """
  instances: [1, 2]
space: {x: [4]}
where: {instance_types: [ml.c5.xlarge, ml.c5.2xlarge], purchases: [on_demand]}
runtime: {ml.c5.xlarge: 4 / instances, ml.c5.2xlarge: 2 / instances ** 0.1}
plan: {deadline: 3h}
platforms: {sagemaker: {instance_preferences: true}}
"""
ONE_OR_TWO = """
  instances: [1, 2]
  efficiency: 0.8
space: {x: [1, 4]}
where: {instance_types: [ml.c5.xlarge], purchases: [on_demand]}
runtime: x
plan: {deadline: 3h}
"""


def planned(team: Team, rest: str) -> Plan:
    file = team.folder / "sweep.yaml"
    file.write_text(SWEEP + rest.removeprefix("\n"))
    return team.orchestrator().plan(read(file))


def test_of_two_types_in_one_request_the_one_that_there_is_trains_and_is_billed(
    team: Team, name: str, cloud: LocalCloud, client: Callable[..., Any]
) -> None:
    dearer = "us-east-1,ml.c5.2xlarge,on_demand,0.4,2026-11-01"
    team.learns("prices", "region,instance_type,purchase,usd_per_hour,observed_at", dearer)
    plan = planned(team, BOTH)
    assert [place.lane.instance_type for place in plan.shares[0].places] == ["ml.c5.xlarge", "ml.c5.2xlarge"]
    with cloud.fault("capacity", region="us-east-1", instance_type="ml.c5.xlarge", seconds=600):
        run = team.orchestrator().submit(plan, name=name)
        *_, last = run.watch(every_s=0.3)
    assert last.state == "done"
    rows = run.results()
    assert [(row.instance_type, row.attempt, row.note) for row in rows] == [("ml.c5.2xlarge", 1, "")] * 2
    for row in rows:
        job = client("sagemaker").describe_training_job(TrainingJobName=row.training)
        assert row.usd == pytest.approx(job["BillableTimeInSeconds"] / 3600 * 0.4)
    assert [(row.instance_type, row.tasks) for row in run.cost()] == [("ml.c5.2xlarge", 2)]


def test_of_two_numbers_in_one_request_the_one_that_there_is_trains_and_is_billed(
    team: Team, name: str, cloud: LocalCloud, client: Callable[..., Any]
) -> None:
    dearer = "us-east-1,ml.c5.2xlarge,on_demand,0.45,2026-11-01"
    team.learns("prices", "region,instance_type,purchase,usd_per_hour,observed_at", dearer)
    plan = planned(team, EITHER)
    found = [(place.lane.instance_type, place.instances) for place in plan.shares[0].places if place.joined]
    assert (plan.shares[0].instances, found[0]) == (2, ("ml.c5.2xlarge", 1))
    with cloud.fault("capacity", region="us-east-1", instance_type="ml.c5.xlarge", seconds=600):
        run = team.orchestrator().submit(plan, name=name)
        *_, last = run.watch(every_s=0.3)
    assert last.state == "done"
    (row,) = run.results()
    assert (row.instance_type, row.attempt, row.note) == ("ml.c5.2xlarge", 1, "")
    job = client("sagemaker").describe_training_job(TrainingJobName=row.training)
    assert job["ResourceConfig"]["SelectedInstanceCount"] == 1
    assert row.usd == pytest.approx(job["BillableTimeInSeconds"] / 3600 * 0.45)


def test_a_task_that_one_machine_would_end_too_late_has_two_and_the_other_has_one(
    team: Team, name: str, client: Callable[..., Any]
) -> None:
    plan = planned(team, ONE_OR_TWO)
    assert [(share.count, share.instances) for share in plan.shares] == [(1, 1), (1, 2)]
    run = team.orchestrator().submit(plan, name=name)
    *_, last = run.watch(every_s=0.3)
    assert last.state == "done"
    rows = sorted(run.results(), key=lambda row: row.task)
    assert [(row.point["x"], row.note) for row in rows] == [(1, ""), (4, "")]
    for row, instances in zip(rows, (1, 2), strict=True):
        job = client("sagemaker").describe_training_job(TrainingJobName=row.training)
        assert job["ResourceConfig"]["InstanceCount"] == instances
        assert row.usd == pytest.approx(job["BillableTimeInSeconds"] / 3600 * 0.2 * instances)
