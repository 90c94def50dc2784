"""What trainings have left in clusters is found by a run's marks, and removed; what runs is left alone."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.session import Clients
from orchestrator.errors import AccessDenied
from orchestrator.platforms.account.leftover import LeavesBehind
from orchestrator.platforms.eks.kube.api import JOBS, PODS, SERVICES
from orchestrator.platforms.eks.kube.clusters import open_cluster
from orchestrator.platforms.eks.leftovers import JOB, POD, SERVICE, leftovers, remove
from orchestrator.platforms.registry import make_operating
from orchestrator.wire.result import Cause, TaskState
from tests.platforms.eks.conftest import REGION

if TYPE_CHECKING:
    from orchestrator.localcloud import LocalCloud
    from orchestrator.platforms.account.leftover import Leftover
    from orchestrator.platforms.conformance.suite import Subject
    from orchestrator.platforms.eks.kube.api import KubeApi


@pytest.fixture
def api(subject: Subject) -> KubeApi:  # noqa: ARG001 - it opens the way to the cloud
    return open_cluster(Clients(), REGION, "sweep")


def found(subject: Subject) -> list[Leftover]:
    return [one for one in leftovers(Clients(), REGION) if one.run == subject.template.run]


def orphan(api: KubeApi, job: str) -> None:
    """Delete a Job alone, as `kubectl delete --cascade=orphan` does."""
    api._send("DELETE", f"/apis/batch/v1/namespaces/sweep/jobs/{job}", {}, {"propagationPolicy": "Orphan"})


def test_a_job_that_ended_and_that_nobody_looked_at_is_found_with_all_that_it_has(
    subject: Subject, api: KubeApi
) -> None:
    attempt = subject.start(subject.task(1))
    for _ in range(subject.looks):
        if left := found(subject):
            break
        subject.wait()
    (job,) = left
    assert (job.kind, job.id, job.training) == (JOB, f"sweep/sweep/{attempt.training}", attempt.training)
    assert (job.task, job.attempt, job.output) == (1, 1, subject.template.output)
    for _ in range(2):
        remove(Clients(), job)
    assert found(subject) == []
    marks = {"labelSelector": f"sweep.run={subject.template.run}"}
    assert [one for kind in (JOBS, SERVICES, PODS) for one in api.list(kind, **marks)] == []
    assert subject.connect().poll(attempt) == subject.outcome(attempt)  # what it wrote of itself is kept


def test_pods_and_services_whose_job_is_gone_are_found_and_those_of_a_job_that_runs_are_not(
    subject: Subject, api: KubeApi
) -> None:
    attempt = subject.start(subject.task(1, "hang"))
    subject.outcome(attempt, TaskState.RUNNING)
    assert found(subject) == []
    orphan(api, attempt.training)
    left = found(subject)
    assert Counter(one.kind for one in left) == {POD: 1, SERVICE: 1}
    assert {(one.training, one.task, one.output) for one in left} == {(attempt.training, 1, subject.template.output)}
    for one in left:
        remove(Clients(), one)
    assert found(subject) == []
    assert subject.outcome(attempt).cause is Cause.INTERRUPTED


def test_a_cluster_that_may_not_be_looked_at_is_an_error_after_the_others(cloud: LocalCloud, subject: Subject) -> None:
    assert subject
    with cloud.fault("deny", "kubernetes:ListPods"), pytest.raises(AccessDenied):
        list(leftovers(Clients(), REGION))


def test_eks_tells_reap_of_what_it_leaves() -> None:
    operating: Any = make_operating("eks")
    assert isinstance(operating, LeavesBehind)
