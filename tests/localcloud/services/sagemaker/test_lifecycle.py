"""How trainings wait for instances, without any process."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from orchestrator.localcloud.services.sagemaker import capacity
from orchestrator.localcloud.services.sagemaker.lifecycle import Lifecycle
from orchestrator.localcloud.services.sagemaker.training import Training


def training(name: str, region: str) -> Training:
    request = {
        "StoppingCondition": {"MaxRuntimeInSeconds": 60},
        "ResourceConfig": {"InstanceType": "ml.c5.xlarge", "InstanceCount": 1},
    }
    return Training(name, f"arn:{name}", region, request, created=0.0)


def lifecycle_of_a_full_machine() -> Lifecycle:
    site: Any = SimpleNamespace(
        clock=SimpleNamespace(now=lambda: 0.0, after=lambda *_: None),
        events=SimpleNamespace(send_training_change=lambda _: None),
    )
    return Lifecycle(site, at_once=0)


def test_when_instances_run_out_all_who_may_not_wait_fail_and_the_others_wait_on() -> None:
    lifecycle = lifecycle_of_a_full_machine()
    here = [training(f"here-{n}", "us-east-1") for n in range(3)]
    there = [training(f"there-{n}", "eu-west-1") for n in range(2)]
    for one in (here[0], there[0], *here[1:]):
        lifecycle.start(one)
    lifecycle.add_shortage(capacity.Shortage("us-east-1"), seconds=60)
    lifecycle.start(there[1])
    assert [(one.status, one.failure) for one in here] == [("Failed", capacity.NO_CAPACITY)] * 3
    assert [one.status for one in there] == ["InProgress"] * 2
