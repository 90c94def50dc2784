"""Environments and Fargate bear as many launchers as a plan wants."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from orchestrator.infra.doctor import queues
from orchestrator.infra.doctor.doctor import in_force
from orchestrator.infra.doctor.subject import Need, Subject
from orchestrator.platforms.account.wanted import AtOnce
from orchestrator.wire.task import Lane
from tests.infra.doctor.account import ACCOUNT, SETTINGS


class OneEnvironment:
    """Batch with one queue, as small as it can be, beside a Fargate quota."""

    def __init__(self, vcpus: int, quota: float) -> None:
        self.vcpus, self.quota = vcpus, quota

    def client(self, service: str, _region: str) -> Any:  # noqa: ARG002
        return self

    def describe_job_queues(self, jobQueues: list[str]) -> Any:  # noqa: N803
        order = [{"order": 1, "computeEnvironment": "e"}]
        queue = {"jobQueueName": jobQueues[0], "state": "ENABLED", "status": "VALID", "computeEnvironmentOrder": order}
        return {"jobQueues": [queue]}

    def describe_compute_environments(self, computeEnvironments: list[str]) -> Any:  # noqa: N803
        resources = {"maxvCpus": self.vcpus, "subnets": [], "securityGroupIds": []}
        name = computeEnvironments[0]
        found = {"computeEnvironmentName": name, "state": "ENABLED", "status": "VALID", "computeResources": resources}
        return {"computeEnvironments": [found]}

    def get_paginator(self, _name: str) -> Any:
        return self

    def paginate(self, **_: Any) -> Any:
        return [{"Quotas": [{"QuotaName": "Fargate On-Demand vCPU resource count", "Value": self.quota}]}]


@pytest.mark.parametrize(
    ("vcpus", "quota", "tasks", "environment", "fargate"),
    [
        (64, 1000.0, 200, "ok", "ok"),
        (64, 1000.0, 300, "warning", "ok"),
        (64, 6.0, 200, "ok", "wrong"),
        (64, 6.0, 0, "ok", "warning"),
        (64, 6.0, 24, "ok", "ok"),
    ],
)
def test_a_plan_wants_launchers_that_the_environment_and_fargate_bear(
    vcpus: int, quota: float, tasks: int, environment: str, fargate: str
) -> None:
    account: Any = OneEnvironment(vcpus, quota)
    subject = Subject(
        SETTINGS,
        account,
        in_force(SETTINGS, ACCOUNT),
        Need(at_once=(AtOnce(Lane.parse("sagemaker/eu-west-1/ml.c5.xlarge/on_demand"), tasks, tasks),)),
    )
    found = {finding.about: finding for finding in queues.queues(subject)}
    assert (found["environment"].state, found["quota"].state) == (environment, fargate)
    assert found["quota"].exit_code == (6 if fargate == "wrong" else 0)


@pytest.mark.parametrize(
    ("lane_queue", "looked_at"),
    [
        ("sweep-tasks-{platform}-{region}", ["sweep-tasks-eks-eu-west-1", "sweep-tasks-sagemaker-eu-west-1"]),
        ("our-{platform}", ["our-eks", "our-sagemaker"]),
        ("our-{instance_type}", []),
    ],
)
def test_queues_of_platforms_are_looked_at_too(lane_queue: str, looked_at: list[str]) -> None:
    settings = replace(SETTINGS, lane_queue=lane_queue, platforms={"eks": {}, "sagemaker": {}})
    account: Any = OneEnvironment(64, 1000.0)
    found = queues.queues(Subject(settings, account, in_force(settings, ACCOUNT), Need()))
    told = [finding.where for finding in found if finding.about in ("queue", "lane_queue")]
    assert told[1:] == looked_at
