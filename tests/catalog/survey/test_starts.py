from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from orchestrator.catalog.platforms import Platforms
from orchestrator.catalog.survey.starts import billing_of, starts_of
from orchestrator.platforms.ec2.planning import Ec2Planning
from orchestrator.platforms.sagemaker.planning import SageMakerPlanning
from orchestrator.platforms.start import Start
from tests.fixtures.sweeps import candidate, make_market

LANES = make_market(
    candidate(dataset="alps@1"), candidate(dataset="coast@1"), candidate(region="eu-west-1", purchase="spot")
).candidates


def starts(planning: Any) -> list[tuple[object, ...]]:
    found = starts_of(LANES, Platforms({"sagemaker": planning}))
    return list(found.itertuples(index=False, name=None))


def test_every_lane_starts_as_its_platform_says() -> None:
    assert starts(SageMakerPlanning({})) == [
        ("sagemaker", "eu-west-1", "ml.g5.xlarge", "spot", 0.05, 3600.0),
        ("sagemaker", "us-east-1", "ml.g5.xlarge", "on_demand", 0.05, 3600.0),
    ]


def test_a_platform_that_says_nothing_of_starts_or_that_they_take_no_time_has_none() -> None:
    assert starts(SimpleNamespace(proxies=())) == []
    assert starts(SimpleNamespace(proxies=(), start=Start())) == []


def test_platforms_that_bill_more_than_hours_of_training_are_named() -> None:
    lanes = make_market(candidate(), candidate(platform="ec2", instance_type="g5.xlarge")).candidates
    found = billing_of(lanes, Platforms({"sagemaker": SageMakerPlanning({}), "ec2": Ec2Planning({})}))
    assert list(found.itertuples(index=False, name=None)) == [("ec2", 1.0, 60.0, 900.0)]
    assert billing_of(LANES, Platforms({"sagemaker": SageMakerPlanning({})})).empty
