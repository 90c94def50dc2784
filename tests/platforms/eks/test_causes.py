"""Each way in which a training in a cluster can fail that is not its own doing, and each refusal, is told apart."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.session import Clients
from orchestrator.errors import (
    AccessDenied,
    InvalidRequest,
    NotFound,
    QuotaExceeded,
    SettingsError,
    Throttled,
    Unreachable,
)
from orchestrator.platforms.eks.kept import Kept
from orchestrator.platforms.eks.kube.api import ACCOUNTS, JOBS, PODS, SERVICES
from orchestrator.platforms.eks.kube.clusters import open_cluster
from orchestrator.platforms.eks.sent.words import JOB_NAME
from orchestrator.platforms.registry import make_operating, make_planning
from orchestrator.wire.result import Cause, TaskState
from tests.platforms.eks.conftest import REGION

if TYPE_CHECKING:
    from orchestrator.localcloud import LocalCloud
    from orchestrator.platforms.conformance.suite import Subject
    from orchestrator.platforms.eks.kube.api import KubeApi
    from orchestrator.wire.result import Attempt
    from orchestrator.wire.task import Place


@pytest.fixture
def api(subject: Subject) -> KubeApi:  # noqa: ARG001 - it opens the way to the cloud
    return open_cluster(Clients(), REGION, "sweep")


def running(subject: Subject, place: Place | None = None) -> Attempt:
    attempt = subject.start(subject.task(1, "hang"), place)
    assert subject.outcome(attempt, TaskState.RUNNING).state is TaskState.RUNNING
    return attempt


def impatient(subject: Subject, **changes: Any) -> Attempt:
    """Start a training that has a second to find machines, with other things in its template."""
    task = subject.task(1)
    task = replace(task, limits=replace(task.limits, patience_s=1))
    template = replace(subject.template, body={**subject.template.body, **changes})
    request = subject.connect().request(template, task, task.places[0], 1, 3600)
    subject.connect().start(request)
    return subject.attempt(task)


@pytest.mark.parametrize(
    ("fault", "cause", "reason"),
    [
        ("reclaim", Cause.INTERRUPTED, "DisruptionTarget"),
        # What a cluster says of these is held by test_verdict.py.
        pytest.param("crash", Cause.INTERRUPTED, "DisruptionTarget", marks=pytest.mark.long),
        pytest.param("evict", Cause.INTERRUPTED, "low on resource: memory", marks=pytest.mark.long),
        pytest.param("kill", Cause.TASK, "OOMKilled", marks=pytest.mark.long),
    ],
)
def test_what_befalls_a_pod_has_a_cause_of_its_own(
    cloud: LocalCloud, subject: Subject, fault: str, cause: Cause, reason: str
) -> None:
    attempt = running(subject, subject.spot)
    cloud.steering.add(fault, attempt.training)
    outcome = subject.outcome(attempt)
    assert (outcome.state, outcome.cause) == (TaskState.FAILED, cause)
    assert reason in outcome.reason


def test_what_ran_on_a_node_that_is_lost_is_billed(cloud: LocalCloud, subject: Subject) -> None:
    """Its pod is gone, and has said nothing of its end."""
    attempt = running(subject)
    kept = Kept(Clients(), attempt.output, REGION, attempt.training)
    for _ in range(subject.looks):
        if kept.arrivals(1):
            break
        subject.wait()
    time.sleep(1.0)  # a cluster tells whole seconds
    cloud.steering.add("crash", attempt.training)
    outcome = subject.outcome(attempt)
    assert outcome.cause is Cause.INTERRUPTED
    assert outcome.usd == pytest.approx(outcome.seconds / 3600 * attempt.rate)
    assert outcome.usd > 0


def test_no_room_for_longer_than_patience_is_want_of_capacity(
    cloud: LocalCloud, subject: Subject, api: KubeApi
) -> None:
    shortage = {"region": REGION, "instance_type": "c5.xlarge", "purchase": "on_demand", "seconds": 3600}
    with cloud.fault("capacity", **shortage):
        attempt = impatient(subject)
        outcome = subject.outcome(attempt)
    assert (outcome.state, outcome.cause, outcome.usd) == (TaskState.FAILED, Cause.CAPACITY, 0)
    assert "nodes are available" in outcome.reason
    with pytest.raises(NotFound):
        api.get(JOBS, "sweep", attempt.training)


def test_an_image_that_cannot_be_pulled_fails_the_task(subject: Subject, name: str) -> None:
    Clients().client("ecr", REGION).create_repository(repositoryName=name)
    image = f"123456789012.dkr.ecr.{REGION}.amazonaws.com/{name}:1"
    outcome = subject.outcome(impatient(subject, image=image))
    assert (outcome.state, outcome.cause) == (TaskState.FAILED, Cause.TASK)
    assert f"{image}: not found" in outcome.reason


def test_a_claim_that_is_not_there_is_told_at_submit_and_otherwise_waited_for(subject: Subject) -> None:
    asked = subject.staging.sweep.model_copy(
        update={"platforms": {"eks": {"volumes": {"data": {"claim": "nowhere", "path": "/fsx"}}}}}
    )
    with pytest.raises(NotFound, match=r"no PersistentVolumeClaim nowhere in the namespace sweep") as told:
        subject.planning.stage(replace(subject.staging, sweep=asked), Clients())
    assert told.value.where == "platforms.eks.volumes.data.claim"


@pytest.mark.parametrize(
    ("asked", "says", "where"),
    [
        ({"queue": "nope"}, "no LocalQueue nope of Kueue's in the namespace sweep", "platforms.eks.queue"),
        ({"service_account": "nope"}, "no service account nope in the namespace", "platforms.eks.service_account"),
        ({"namespace": "nope"}, "no namespace nope of the cluster sweep in eu-west-1", "platforms.eks.namespace"),
    ],
)
def test_what_pods_would_wait_for_in_vain_is_told_at_submit(
    subject: Subject, asked: dict[str, str], says: str, where: str
) -> None:
    wanted = subject.staging.sweep.model_copy(update={"platforms": {"eks": asked}})
    with pytest.raises(NotFound, match=says) as told:
        subject.planning.stage(replace(subject.staging, sweep=wanted), Clients())
    assert told.value.where == where
    usually = make_planning("eks", {"cluster": "sweep", **asked})
    with pytest.raises(NotFound, match=says) as told:
        usually.stage(subject.staging, Clients())
    assert told.value.where == f"{where} of the settings"


def test_a_cluster_that_is_not_there_is_told_at_submit(subject: Subject) -> None:
    with pytest.raises(NotFound, match="there is no cluster prod in eu-west-1") as told:
        make_planning("eks", {"cluster": "prod"}).stage(subject.staging, Clients())
    assert told.value.where == "platforms.eks.cluster of the settings"


def test_a_queue_that_nobody_may_look_at_is_no_reason_to_refuse(cloud: LocalCloud, subject: Subject) -> None:
    wanted = subject.staging.sweep.model_copy(update={"platforms": {"eks": {"queue": "hidden"}}})
    with cloud.fault("deny", "kubernetes:GetLocalQueue"):
        template = subject.planning.stage(replace(subject.staging, sweep=wanted), Clients())
    assert template.body["queue"] == "hidden"


def test_a_training_that_a_queue_has_let_begin_is_adopted_after_a_lost_answer(
    cloud: LocalCloud, subject: Subject, api: KubeApi, name: str
) -> None:
    """Its Job is not suspended any more, as it was asked for."""
    queue = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": name}}
    api.create("kueue.x-k8s.io/v1beta2/localqueues", "sweep", queue)
    wanted = subject.staging.sweep.model_copy(update={"platforms": {"eks": {"queue": name}}})
    template = subject.planning.stage(replace(subject.staging, sweep=wanted), Clients())
    task = subject.task(1)
    request = subject.connect().request(template, task, task.places[0], 1, 3600)
    with cloud.fault("reset", "kubernetes:CreateJob", after=True, times=1), pytest.raises(Unreachable):
        subject.connect().start(request)
    subject.connect().start(request)
    assert subject.outcome(subject.attempt(task)).state is TaskState.DONE


def test_a_pod_that_never_came_to_our_program_tells_its_last_words(subject: Subject) -> None:
    outcome = subject.outcome(impatient(subject, source="s3://no-such-bucket-here/x.tar.gz"))
    assert (outcome.state, outcome.cause) == (TaskState.FAILED, Cause.TASK)
    assert "ended with exit code 1: " in outcome.reason
    assert "no-such-bucket-here/x.tar.gz: HTTP Error 404" in outcome.reason


def test_a_training_has_the_role_that_its_service_account_names(subject: Subject, api: KubeApi, name: str) -> None:
    """Neither its first program nor its own client of S3 is an SDK of AWS's."""
    role = Clients().client("iam", REGION).create_role(RoleName=name, AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    meta = {"name": name, "annotations": {"eks.amazonaws.com/role-arn": role}}
    api.create(ACCOUNTS, "sweep", {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta})
    task = subject.task(1)
    template = replace(subject.template, body={**subject.template.body, "service_account": name})
    subject.connect().start(subject.connect().request(template, task, task.places[0], 1, 3600))
    assert subject.outcome(subject.attempt(task)).state is TaskState.DONE


def test_quota_and_admission_are_refusals_of_two_kinds(
    cloud: LocalCloud, subject: Subject, api: KubeApi, name: str
) -> None:
    api.create("v1/namespaces", "", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    api.create(ACCOUNTS, name, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "sweep-training"}})
    none = {"metadata": {"name": "none"}, "spec": {"hard": {"count/jobs.batch": "0"}}}
    api.create("v1/resourcequotas", name, {"apiVersion": "v1", "kind": "ResourceQuota", **none})
    with pytest.raises(QuotaExceeded, match="exceeded quota: none"):
        impatient(subject, namespace=name)
    with (
        cloud.fault("admission", "the image is not signed", region=REGION),
        pytest.raises(InvalidRequest, match="the image is not signed"),
    ):
        subject.connect().start(subject.request(subject.task(2)))


def test_what_the_cluster_drops_without_a_word_is_noticed(cloud: LocalCloud, subject: Subject, api: KubeApi) -> None:
    request = subject.request(subject.task(1))
    with (
        cloud.fault("forget", "spec.podFailurePolicy", region=REGION),
        pytest.raises(InvalidRequest, match=r"has not kept spec\.podFailurePolicy of the Job, and said nothing"),
    ):
        subject.connect().start(request)
    with pytest.raises(NotFound):
        api.get(JOBS, "sweep", request.training)


def test_a_cluster_that_does_not_answer_says_nothing_of_a_training(cloud: LocalCloud, subject: Subject) -> None:
    attempt = running(subject)
    runner = subject.connect()
    runner.poll(attempt)
    errors = {"reset": Unreachable, "error": Unreachable, "throttle": Throttled, "deny": AccessDenied}
    for fault, error in errors.items():
        with cloud.fault(fault, "kubernetes:*"), pytest.raises(error):
            runner.poll(attempt)
    runner.stop(attempt)
    assert subject.outcome(attempt).cause is Cause.STOPPED


def test_a_lost_answer_starts_no_second_training(cloud: LocalCloud, subject: Subject, api: KubeApi) -> None:
    request = subject.request(subject.task(1))
    with cloud.fault("reset", "kubernetes:CreateJob", after=True, times=1), pytest.raises(Unreachable):
        subject.connect().start(request)
    subject.connect().start(request)
    assert subject.outcome(subject.attempt(subject.task(1))).state is TaskState.DONE
    subject.connect().start(request)  # it has ended, and stays so
    assert list(api.list(PODS, "sweep", labelSelector=f"{JOB_NAME}={request.training}")) == []


def test_a_job_that_somebody_deletes_is_interrupted_and_not_never_started(subject: Subject, api: KubeApi) -> None:
    attempt = running(subject)
    api.delete(JOBS, "sweep", attempt.training)
    outcome = subject.outcome(attempt)
    assert (outcome.state, outcome.cause) == (TaskState.FAILED, Cause.INTERRUPTED)


def test_nothing_of_a_training_is_left_in_the_cluster(subject: Subject, api: KubeApi) -> None:
    attempt = subject.start(subject.task(1), subject.pair)
    assert subject.outcome(attempt).state is TaskState.DONE
    marks = {"labelSelector": f"sweep.run={subject.template.run}"}
    for _ in range(subject.looks):
        if not [one for kind in (JOBS, SERVICES, PODS) for one in api.list(kind, **marks)]:
            break
        subject.wait()
    else:
        raise AssertionError("something is left")
    assert subject.connect().poll(attempt) == subject.outcome(attempt)


@pytest.mark.usefixtures("cloud_environment")
def test_a_cluster_s_nodes_are_its_quotas() -> None:
    feed = next(one for one in make_operating("eks").feeds() if one.name == "eks-nodes")
    rows = feed.read(Clients(), "us-west-2", datetime.now(timezone.utc)).rows
    found = {row["quota"]: row["units"] for row in rows}
    assert found == {
        "sweep/c5.xlarge": 16,
        "sweep/c5.xlarge/on_demand": 8,
        "sweep/c5.xlarge/spot": 8,
        "sweep/g5.xlarge/on_demand": 4,
        "sweep/g5.xlarge/spot": 4,
        "sweep/nvidia.com/gpu": 24,
        "sweep/p4d.24xlarge/on_demand": 2,
        "sweep/p4d.24xlarge/spot": 0,
    }


@pytest.mark.parametrize(
    ("settings", "says"),
    [({"clutser": "x"}, "clutser"), ({"cluster": "a b"}, "not a cluster's name"), ({"shm_gb": 0}, "shm_gb")],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, object], says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        make_planning("eks", settings)
