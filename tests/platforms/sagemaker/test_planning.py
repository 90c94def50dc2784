"""What SageMaker has for sale, and what it counts."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.platforms.sagemaker.planning import SageMakerPlanning
from orchestrator.wire.task import Lane, Purchase
from tests.platforms.sweeps import sweep

PLANNING = SageMakerPlanning({})
SPOT = Lane("sagemaker", "eu-west-1", "ml.g5.xlarge", Purchase.SPOT)
ARN = "arn:aws:sagemaker:eu-west-1:123456789012:training-plan/nightly"


def test_a_type_of_ec2_is_no_type_of_sagemakers() -> None:
    said = "SageMaker has no instance type c5.xlarge: its types begin with ml., as in ml.g5.xlarge"
    assert PLANNING.refuses(replace(SPOT, instance_type="c5.xlarge")) == said
    assert PLANNING.refuses(SPOT) == ""


def test_training_plans_are_sold_for_accelerators_only() -> None:
    committed = replace(SPOT, purchase=Purchase.COMMITTED)
    assert PLANNING.refuses(committed) == ""
    assert PLANNING.refuses(replace(committed, instance_type="ml.new.large")) == ""
    assert "sells no training plans for ml.c5.xlarge" in PLANNING.refuses(
        replace(committed, instance_type="ml.c5.xlarge")
    )


def test_ec2_s_spot_prices_stand_in_for_sagemaker_s() -> None:
    assert PLANNING.proxies == ("ec2",)
    assert PLANNING.proxy(SPOT) == Lane("ec2", "eu-west-1", "g5.xlarge", Purchase.SPOT)
    assert PLANNING.proxy(replace(SPOT, instance_type="g5.xlarge")) is None


def test_an_instance_counts_for_its_type_for_all_bought_alike_and_for_all() -> None:
    assert PLANNING.uses(SPOT) == {"ml.g5.xlarge/spot": 1, "*/spot": 1, "*/*": 1}
    on_demand = replace(SPOT, purchase=Purchase.ON_DEMAND)
    assert PLANNING.uses(on_demand) == {"ml.g5.xlarge/on_demand": 1, "*/on_demand": 1, "*/*": 1}


def test_a_training_plan_counts_its_own_instances() -> None:
    assert PLANNING.uses(replace(SPOT, purchase=Purchase.COMMITTED), ARN) == {ARN: 1}


def test_another_platforms_types_are_not_looked_at() -> None:
    mixed = sweep({"parallel": "mpi", "instances": 2}, {"instance_types": ["c5.xlarge", "ml.p4d.24xlarge"]})
    assert PLANNING.cautions(mixed) == ()
    smddp = sweep({"parallel": "smddp"}, {"instance_types": ["p5.48xlarge", "ml.p4d.24xlarge", "ml.g5.xlarge"]})
    assert [one.at for one in PLANNING.check(smddp)] == [("where", "instance_types", 2)]
