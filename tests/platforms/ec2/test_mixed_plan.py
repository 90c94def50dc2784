"""One plan over several platforms: what is cheapest is taken, whoever sells it, and the rest is compared with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.api import Orchestrator, Settings, Sweep
from orchestrator.demo import sample_data
from orchestrator.demo.main import read_demo_sweep

if TYPE_CHECKING:
    from pathlib import Path

TYPES = {"ec2": "c5.4xlarge", "sagemaker": "ml.c5.4xlarge"}


@pytest.fixture
def orchestrator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Orchestrator:
    monkeypatch.setattr(sample_data, "upload", lambda *_: None)
    made = Orchestrator(Settings(database=f"sqlite:///{tmp_path / 'sweep.db'}"))
    made.catalog.load(sample_data.create_sample_data(tmp_path, "drives-{region}", "ec2").catalog)
    return made


def asked(platforms: list[str], purchases: list[str], hours: float = 0.5) -> Sweep:
    sweep = read_demo_sweep("mpi")
    where = {"platforms": platforms, "instance_types": [TYPES[name] for name in platforms], "purchases": purchases}
    changed = {"runtime": hours, "timeout": "2h", "where": where}
    return Sweep.model_validate(sweep.model_dump(mode="json", exclude_unset=True) | changed)


def test_tasks_go_to_whoever_is_cheapest_and_to_the_others_when_that_is_full(orchestrator: Orchestrator) -> None:
    plan = orchestrator.plan(asked(["ec2", "sagemaker"], ["on_demand"]))
    assert {share.places[0].lane.platform for share in plan.shares} == {"ec2"}
    assert {place.lane.platform for share in plan.shares for place in share.places} == {"ec2", "sagemaker"}
    alone = orchestrator.plan(asked(["sagemaker"], ["on_demand"]))
    assert plan.usd < alone.usd


def test_tasks_of_seconds_go_where_no_boot_is_billed(orchestrator: Orchestrator) -> None:
    """docs/ec2.md: EC2 bills two minutes of booting, as is thought before any is known; SageMaker bills no start."""
    plan = orchestrator.plan(asked(["ec2", "sagemaker"], ["on_demand"], hours=4 / 3600))
    assert {share.places[0].lane.platform for share in plan.shares} == {"sagemaker"}
    alone = orchestrator.plan(asked(["ec2"], ["on_demand"], hours=4 / 3600))
    prices = {lot.lane: lot.usd_per_hour for lot in alone.lots}
    for share in alone.shares:
        assert share.usd == pytest.approx(prices[share.places[0].lane] * (4 + 120) / 3600)
        assert share.places[0].allowance_s == 900
    assert "billed: its start of 2m as well, 0.0344 h in all" in "\n".join(orchestrator.explain(alone, "0"))


def test_a_plan_says_what_the_other_platform_would_cost(orchestrator: Orchestrator) -> None:
    plan = orchestrator.plan(asked(["ec2", "sagemaker"], ["on_demand"]))
    said = "\n".join(orchestrator.explain(plan, "0"))
    assert said.startswith("tasks 0-3 of alpine-passes@v1: ec2 eu-central-1 c5.4xlarge on_demand")
    assert "sagemaker eu-central-1 ml.c5.4xlarge" in said, said


def test_what_a_task_holds_on_ec2_is_vcpus_of_its_family(orchestrator: Orchestrator) -> None:
    plan = orchestrator.plan(asked(["ec2"], ["on_demand"]))
    assert [lot.uses for lot in plan.lots] == [{"L-1216C47A": 16}] * len(plan.lots)
    assert {fact.units for fact in plan.quotas} == {256}
