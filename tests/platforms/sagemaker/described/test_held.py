"""What DescribeTrainingJob says of a training's machines counts: for the bill, and for what is told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from orchestrator.platforms.sagemaker.described.outcome import read_outcome
from orchestrator.wire.result import Attempt, Outcome
from orchestrator.wire.task import Purchase
from tests.platforms.sweeps import ON_DEMAND, SPOT

SECOND = replace(ON_DEMAND, lane=replace(ON_DEMAND.lane, instance_type="ml.g5.2xlarge"), rate=4.0)
ALONE = Attempt(912, 3, 0, ON_DEMAND.lane, "nightly-912-3", "hash", 3600, 0.0, rate=1.5)
BOTH = replace(ALONE, others=(SECOND,))
PLAN_ARN = "arn:aws:sagemaker:eu-west-1:123456789012:training-plan/nightly"
HOUR = {"BillableTimeInSeconds": 3600, "TrainingTimeInSeconds": 3600}


def described(attempt: Attempt, machines: dict[str, Any], *, spot: bool = False) -> Outcome:
    job = {"TrainingJobStatus": "Completed", "ResourceConfig": machines, "EnableManagedSpotTraining": spot}
    return read_outcome(attempt, job | HOUR)


def test_what_was_asked_for_needs_no_word() -> None:
    found = described(ALONE, {"InstanceType": "ml.g5.xlarge", "InstanceCount": 1})
    assert (found.lane, found.instances, found.usd, found.note) == (ALONE.lane, 1, 1.5, "")


@pytest.mark.parametrize(("name", "usd"), [("ml.g5.xlarge", 1.5), ("ml.g5.2xlarge", 4.0)])
def test_of_several_types_the_one_that_was_selected_is_billed(name: str, usd: float) -> None:
    machines = {"SelectedInstanceType": name, "SelectedInstanceCount": 1, "InstanceCount": 1}
    found = described(BOTH, machines)
    assert (found.lane.instance_type, found.usd, found.note) == (name, usd, "")


def test_until_one_is_selected_the_first_is_what_it_waits_for() -> None:
    preferences = [{"InstanceType": "ml.g5.xlarge"}, {"InstanceType": "ml.g5.2xlarge"}]
    found = described(BOTH, {"InstancePreferences": preferences, "InstanceCount": 1})
    assert (found.lane, found.note) == (ALONE.lane, "")


def test_another_number_of_instances_is_booked_and_told() -> None:
    found = described(ALONE, {"InstanceType": "ml.g5.xlarge", "InstanceCount": 3})
    assert (found.instances, found.usd) == (3, 4.5)
    assert found.note == "it has 3 × ml.g5.xlarge on_demand, where ml.g5.xlarge on_demand was asked for"


def test_another_type_is_told_with_the_rate_that_it_is_booked_at() -> None:
    found = described(BOTH, {"InstanceType": "ml.p4d.24xlarge", "InstanceCount": 1})
    assert (found.lane.instance_type, found.usd) == ("ml.p4d.24xlarge", 4.0)
    assert found.note == (
        "it has ml.p4d.24xlarge on_demand, where ml.g5.xlarge on_demand, or ml.g5.2xlarge on_demand was asked for, "
        "and is booked at $4.00 an hour"
    )


@pytest.mark.parametrize("asked", [ON_DEMAND, SPOT])
def test_the_other_way_of_buying_is_told(asked: Any) -> None:
    spot = asked is ON_DEMAND
    attempt = replace(ALONE, lane=asked.lane)
    found = described(attempt, {"InstanceType": "ml.g5.xlarge", "InstanceCount": 1}, spot=spot)
    assert found.lane.purchase is (Purchase.SPOT if spot else Purchase.ON_DEMAND)
    assert "where ml.g5.xlarge" in found.note


@pytest.mark.parametrize("arn", ["", PLAN_ARN.replace("nightly", "weekly")])
def test_a_training_plan_that_is_not_used_is_told(arn: str) -> None:
    committed = replace(ALONE, lane=replace(ALONE.lane, purchase=Purchase.COMMITTED), site=PLAN_ARN, rate=0.0)
    machines = {"InstanceType": "ml.g5.xlarge", "InstanceCount": 1}
    assert described(committed, {**machines, "TrainingPlanArn": PLAN_ARN}).note == ""
    assert PLAN_ARN in described(committed, {**machines, **({"TrainingPlanArn": arn} if arn else {})}).note
