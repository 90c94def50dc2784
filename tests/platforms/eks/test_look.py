"""What a look at a training makes of its Job and its pods while it has not ended: what is in its way is told.

Statuses are written as kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle shows them.
"""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.errors import AccessDenied, NotFound
from orchestrator.platforms.eks.kube.api import EVENTS, JOBS, PODS, Answer
from orchestrator.platforms.eks.look import Look
from orchestrator.training.bare.together.leave import Verdict
from orchestrator.wire.result import Cause, TaskState
from tests.platforms.eks.made import ATTEMPT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.wire.result import Outcome

PATIENCE_S = 600
BEGAN = 1_000_000


def at(seconds: float) -> str:
    """The moment so many seconds after the Job began."""
    return datetime.fromtimestamp(BEGAN + seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Cluster:
    """Stands for a cluster with one Job, and for what is kept of its training in S3."""

    def __init__(self, now: float, *pods: dict[str, Any], **spec: Any) -> None:
        self.now = BEGAN + now
        self.pods = list(pods)
        self.job: dict[str, Any] | None = {"spec": spec, "status": {"startTime": at(0)}}
        self.events: dict[str, str] = {}
        self.said: Verdict | None = None
        self.deleted: list[str] = []
        self.is_ours = True
        self.least = 0
        self.region, self.cluster = "eu-west-1", "prod"
        self.queues: dict[str, dict[str, Any]] = {}
        """LocalQueues by the version of Kueue's that serves them."""
        self.no_queue: Exception = NotFound('localqueues.kueue.x-k8s.io "fair" not found')
        self.arrived: tuple[float, ...] = ()

    def get(self, kind: str, namespace: str, name: str) -> Answer:
        if kind in self.queues:
            return Answer(self.queues[kind], self.now)
        if kind.endswith("localqueues"):
            raise self.no_queue
        assert (kind, namespace, name) == (JOBS, "sweep", ATTEMPT.training)
        if self.job is None:
            raise NotFound("jobs.batch not found")
        return Answer(self.job, self.now)

    def list(self, kind: str, namespace: str, **chosen: str) -> Iterator[dict[str, Any]]:
        assert namespace == "sweep"
        if kind == PODS:
            return iter(self.pods)
        assert kind == EVENTS
        name = chosen["fieldSelector"].partition("=")[2]
        return iter([{"message": self.events[name]}] if name in self.events else [])

    def delete(self, kind: str, namespace: str, name: str) -> None:
        if not self.is_ours:
            raise AccessDenied("may not delete")
        self.deleted.append(f"{kind} {namespace}/{name}")

    def leave(self) -> Verdict | None:
        return self.said

    def ask_to_leave(self, cause: str, reason: str) -> None:
        self.said = Verdict(cause, reason)

    def machines(self, instances: int) -> list[None]:
        return [None] * instances

    def arrivals(self, instances: int) -> tuple[float, ...]:
        assert instances == ATTEMPT.instances
        return self.arrived

    def has_begun(self) -> bool:
        return True

    def look(self) -> Outcome:
        both: Any = self
        claim = {"namespace": "sweep", "patience_s": PATIENCE_S, "least": self.least}
        outcome = Look(ATTEMPT, claim, both, both).outcome()
        assert outcome is not None
        return outcome


def test_pods_that_have_ended_while_s3_is_away_are_not_taken_to_run() -> None:
    over = {
        "containerStatuses": [{"state": {"terminated": {"startedAt": at(20), "finishedAt": at(300), "exitCode": 0}}}]
    }
    cluster: Any = Cluster(5000, pod(0, "Succeeded", status=over), pod(1, "Running"))
    look = Look(ATTEMPT, {"namespace": "sweep"}, cluster, cluster)
    assert look.gone() is None
    cluster.pods[1] = pod(1, "Succeeded", status=over)
    assert look.gone() is None, "its Job may make another"
    cluster.job["status"]["conditions"] = [{"type": "Complete", "status": "True", "lastTransitionTime": at(301)}]
    gone = look.gone()
    assert gone is not None
    assert (gone.state, gone.has_machines, gone.seconds, gone.usd) == (TaskState.RUNNING, False, 280, 0)
    assert gone.lost_at == BEGAN + 300


def pod(index: int, phase: str = "Running", **more: Any) -> dict[str, Any]:
    conditions = [{"type": "PodScheduled", "status": "True", "lastTransitionTime": at(10)}]
    status = {"phase": phase, "conditions": conditions, **more.pop("status", {})}
    meta = {"name": f"nightly-7-1-{index}-x", "creationTimestamp": at(5), **more}
    return {"metadata": meta, "spec": {}, "status": status}


def waiting(index: int, reason: str) -> dict[str, Any]:
    state = {"waiting": {"reason": reason, "message": f"{reason}: no luck"}}
    return pod(index, "Pending", status={"containerStatuses": [{"state": state}]})


def without_room(index: int) -> dict[str, Any]:
    why = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": at(10)}
    return pod(index, "Pending", status={"conditions": [{**why, "message": "0/3 nodes are available"}]})


def leaving(index: int, gone_by: float) -> dict[str, Any]:
    taken = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "DeletionByTaintManager",
        "message": "Taint manager",
    }
    return pod(index, deletionTimestamp=at(gone_by), status={"conditions": [taken]})


CREATING = "ContainerCreating"


@pytest.mark.parametrize(
    ("now", "pods", "cause", "says"),
    [
        # Whoever has patience waits; and then not any more.
        (600, [pod(0), without_room(1)], "", ""),
        (611, [pod(0), without_room(1)], "capacity", "no node has room for nightly-7-1-1-x: 0/3 nodes are available"),
        (300, [pod(0), waiting(1, "ErrImagePull")], "", ""),
        (310, [pod(0), waiting(1, "ErrImagePull")], "task", "cannot begin: ErrImagePull: no luck"),
        (310, [pod(0), waiting(1, "CreateContainerConfigError")], "task", "cannot begin: CreateContainerConfigError"),
        # A large image is pulled, a volume is mounted: that takes its time, and not for ever.
        (1800, [pod(0), waiting(1, CREATING)], "", ""),
        (1811, [pod(0), waiting(1, CREATING)], "capacity", "does not begin on its node: FailedMount: no such volume"),
        # The namespace's quota bears no second pod.
        (600, [pod(0)], "", ""),
        (601, [pod(0)], "capacity", "not all of its pods were made: exceeded quota: few"),
        # A node that is lost answers nobody, and its pod is going for ever.
        (1899, [pod(0), leaving(1, 1000)], "", ""),
        (1901, [pod(0), leaving(1, 1000)], "interrupted", "on a node that does not answer: Taint manager"),
    ],
)
def test_what_is_in_the_way_of_a_job_is_told_and_ends_it(
    now: float, pods: list[dict[str, Any]], cause: str, says: str
) -> None:
    cluster = Cluster(now, *pods)
    cluster.events = {"nightly-7-1": "exceeded quota: few", "nightly-7-1-1-x": "FailedMount: no such volume"}
    outcome = cluster.look()
    assert outcome.state in (TaskState.STARTING, TaskState.RUNNING)
    if not cause:
        assert (cluster.said, cluster.deleted) == (None, [])
        return
    assert cluster.said is not None
    assert (cluster.said.cause, says in cluster.said.reason) == (cause, True)
    assert cluster.deleted == [f"{JOBS} sweep/nightly-7-1"]


def test_patience_does_not_count_while_a_queue_holds_the_job_back() -> None:
    cluster = Cluster(86_400, suspend=True)
    assert cluster.look().state is TaskState.STARTING
    assert cluster.said is None


def suspended(now: float, queue: str = "fair") -> Cluster:
    cluster = Cluster(now, suspend=True)
    since = {"type": "Suspended", "status": "True", "lastTransitionTime": at(0)}
    cluster.job = {
        "metadata": {"labels": {"kueue.x-k8s.io/queue-name": queue} if queue else {}},
        "spec": {"suspend": True},
        "status": {"conditions": [since]},
    }
    return cluster


STOPPED = {"status": {"conditions": [{"type": "Active", "status": "False", "message": "LocalQueue is stopped"}]}}
NO_KUEUE = NotFound("the server could not find the requested resource")


@pytest.mark.parametrize(
    ("queues", "error", "says"),
    [
        ({}, None, "waits for ever: Kueue has no LocalQueue fair in the namespace sweep of eu-west-1 prod"),
        ({}, NO_KUEUE, "waits for ever: there is no Kueue, and so no LocalQueue fair"),
        ({}, AccessDenied("may not get localqueues"), "`kubectl get localqueue fair --namespace sweep` tells"),
        ({"v1beta2": STOPPED}, None, "lets nothing begin: LocalQueue is stopped"),
        ({"v1beta1": STOPPED}, NO_KUEUE, "lets nothing begin: LocalQueue is stopped"),
        ({"v1beta2": {}}, None, "waits for its turn in Kueue's LocalQueue fair in eu-west-1 prod"),
    ],
)
def test_what_a_job_waits_for_that_a_queue_holds_back_is_told_after_patience(
    queues: dict[str, dict[str, Any]], error: Exception | None, says: str
) -> None:
    for now in (PATIENCE_S, PATIENCE_S + 1):
        cluster = suspended(now)
        cluster.queues = {f"kueue.x-k8s.io/{version}/localqueues": body for version, body in queues.items()}
        cluster.no_queue = error or cluster.no_queue
        outcome = cluster.look()
        assert (outcome.state, outcome.cause, cluster.said) == (TaskState.STARTING, Cause.NONE, None)
        assert (says in outcome.waits_for) is (now > PATIENCE_S), outcome.waits_for


def test_a_job_that_somebody_has_suspended_is_told_too() -> None:
    assert "somebody has suspended its Job nightly-7-1" in suspended(PATIENCE_S + 1, queue="").look().waits_for


def test_who_may_only_look_tells_and_leaves_the_end_to_the_launcher() -> None:
    cluster = Cluster(700, pod(0), without_room(1))
    cluster.is_ours = False
    assert cluster.look().state is TaskState.STARTING
    assert cluster.said is not None


def test_pods_that_come_and_go_are_not_given_up_for_one_on_a_lost_node() -> None:
    cluster = Cluster(9_000, pod(0), leaving(1, 1000))
    cluster.least = 1
    assert cluster.look().state is TaskState.RUNNING
    assert cluster.said is None


def test_an_elastic_training_with_too_few_pods_left_waits_for_machines_since_they_were_lost() -> None:
    cluster = Cluster(700, pod(0), without_room(1))
    cluster.pods[1]["metadata"]["creationTimestamp"] = at(500)  # it was made in place of one that was lost
    cluster.least, cluster.arrived = 2, (BEGAN + 20, BEGAN + 21)
    outcome = cluster.look()
    assert (outcome.state, outcome.lost_at) == (TaskState.RUNNING, BEGAN + 500)
    cluster.least = 1
    assert (cluster.look().state, cluster.look().lost_at) == (TaskState.RUNNING, None)
    cluster.least, cluster.arrived = 2, (BEGAN + 20,)
    assert (cluster.look().state, cluster.look().lost_at) == (TaskState.STARTING, None), "it never was whole"


def test_a_pod_that_goes_for_ever_does_not_keep_an_attempt_whose_job_is_gone_from_ending() -> None:
    cluster = Cluster(0, leaving(1, -5_000_000))
    cluster.job = None
    cluster.said = Verdict("interrupted", "its node does not answer")
    outcome = cluster.look()
    assert (outcome.state, outcome.cause, outcome.reason) == (
        TaskState.FAILED,
        Cause.INTERRUPTED,
        "nightly-7-1-1-x was taken away: Taint manager",
    )
    assert json.dumps(outcome.to_json())
