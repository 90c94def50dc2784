"""A training is timed on one instance and on two, with real processes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

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


PRICES = "platform,region,instance_type,purchase,usd_per_hour,observed_at"


@pytest.mark.parametrize(("platform", "settings"), [("eks", {"cluster": "sweep"}), ("ec2", {})])
def test_it_is_timed_where_sagemaker_is_not_wanted_and_the_planner_takes_what_it_says(
    team: Team, name: str, platform: str, settings: dict[str, Any]
) -> None:
    team.settings = replace(team.settings, platforms={platform: settings})
    team.learns("prices", PRICES, f"{platform},eu-west-1,c5.xlarge,on_demand,0.2,2026-11-01")
    file = team.folder / "sweep.yaml"
    there = SWEEP.replace("where: {instance_types: [ml.", f"where: {{platforms: [{platform}], instance_types: [")
    file.write_text(there)
    scaling = Scaling(team.orchestrator())
    steps = scaling.steps(read(file), Asked((1, 2), "coast@1", name=name))
    runs = [scaling.begin(step) for step in steps]
    for run in runs:
        *_, last = run.watch(every_s=0.3)
        assert last.state == "done", run.results()
    rows = compare(scaling.read(runs))
    assert [(row.instances, row.attempts) for row in rows] == [(1, 1), (2, 1)]
    assert all(row.seconds > 0 and row.usd > 0 for row in rows)
    efficiency = max(fit_efficiency(rows) or 0.0, 0.6)  # what is fitted to trainings of a second is noise
    several = f"  instances: [1, 2]\n  efficiency: {efficiency:.3f}\n  metrics:"
    file.write_text(there.replace("  metrics:", several) + "data: {campaigns: [coast]}\n")
    notes = " ".join(team.orchestrator().plan(read(file)).notes)
    assert "as train.efficiency says" in notes, notes
