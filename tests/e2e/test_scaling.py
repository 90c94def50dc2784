"""A training is timed on one instance and on two, with real processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator import read
from orchestrator.scaling.figures import compare, fit_efficiency
from orchestrator.scaling.scaling import Scaling
from orchestrator.scaling.steps import Asked

if TYPE_CHECKING:
    from tests.fixtures.team import Team

pytestmark = [pytest.mark.parametrize("database_url", ["sqlite"], indirect=True), pytest.mark.long]

SWEEP = """
name: scaled
train:
  source: training
  entry_point: train.py
  image: "{account}.dkr.ecr.{region}.amazonaws.com/small:1"
  environment: {BROKEN: none}
  metrics: {loss: 'loss=([-+.0-9e]+)'}
space: {x: [1, 2, 3]}
where: {instance_types: [ml.c5.xlarge], purchases: [on_demand]}
runtime: 0.01
timeout: 10m
"""


def test_a_training_is_timed_on_one_instance_and_on_two_and_the_same_command_goes_on(team: Team, name: str) -> None:
    file = team.folder / "sweep.yaml"
    file.write_text(SWEEP)
    scaling, asked = Scaling(team.orchestrator()), Asked((1, 2), "coast@1", point=2, name=name)
    steps = scaling.steps(read(file), asked)
    runs = [scaling.begin(step) for step in steps]
    for run in runs:
        *_, last = run.watch(every_s=0.3)
        assert last.state == "done"
    for run, instances in zip(runs, (1, 2), strict=True):
        (row,) = run.results()
        assert (row.dataset, row.point, row.region, row.instances) == ("coast@1", {"x": 3}, "eu-west-1", instances)
    rows = compare(scaling.read(runs))
    assert [(row.instances, row.ideal, row.attempts) for row in rows] == [(1, 1, 1), (2, 2, 1)]
    assert all(row.seconds > 0 and row.usd > 0 for row in rows)
    assert fit_efficiency(rows) is not None

    team.learns(
        "prices",
        "region,instance_type,purchase,usd_per_hour,observed_at",
        "eu-west-1,ml.c5.xlarge,on_demand,0.9,2026-11-02",
    )
    elsewhere = Scaling(team.orchestrator("another"))
    again = elsewhere.steps(read(file), asked)
    assert [step.plan.id for step in again] == [step.plan.id for step in steps]
    assert elsewhere.begin(again[0]).name == runs[0].name
