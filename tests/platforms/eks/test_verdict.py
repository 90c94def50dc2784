"""What is made of a Job's and its pods' status, written as Kubernetes' own pages show them, and of machines' words.

kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions
kubernetes.io/docs/tasks/job/pod-failure-policy
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.platforms.eks.kube.job import read_job
from orchestrator.platforms.eks.kube.pods import read_pod
from orchestrator.platforms.eks.verdict import CAPACITY, Seen, read_end, read_life
from orchestrator.training.bare.telling.outcome import MachineOutcome
from orchestrator.training.bare.together.leave import INTERRUPTED, STOPPED, TASK, TIMEOUT, Verdict
from orchestrator.wire.result import Cause, Outcome, TaskState
from tests.platforms.eks.made import ATTEMPT as FIRST

if TYPE_CHECKING:
    from orchestrator.platforms.eks.kube.job import Job
    from orchestrator.platforms.eks.kube.pods import Pod

ATTEMPT = replace(FIRST, number=2, training="nightly-7-2")
T0 = "2026-11-22T10:00:00Z"
T1 = "2026-11-22T10:30:00Z"
T1_S = datetime(2026, 11, 22, 10, 30, tzinfo=timezone.utc).timestamp()


def pod(phase: str = "Failed", exit_code: int = 1, reason: str = "Error", **status: Any) -> Pod:
    over = {"exitCode": exit_code, "reason": reason, "startedAt": T0, "finishedAt": T1}
    containers = [{"name": "training", "state": {"terminated": over}}]
    body = {"metadata": {"name": "nightly-7-2-0-abcde", "creationTimestamp": T0}, "spec": {}}
    return read_pod({**body, "status": {"phase": phase, "containerStatuses": containers, **status}})


def job(kind: str = "Failed", reason: str = "BackoffLimitExceeded", message: str = "words") -> Job:
    condition = {"type": kind, "status": "True", "reason": reason, "message": message, "lastTransitionTime": T1}
    return read_job({"spec": {}, "status": {"startTime": T0, "conditions": [condition]}})


def machine(state: str, cause: str = "", reason: str = "", **more: Any) -> MachineOutcome:
    return MachineOutcome(0, state, cause, reason, started_at=1000.0, ended_at=2800.0, **more)


def end(**seen: Any) -> Outcome:
    known: dict[str, Any] = {"job": job(), "pods": (), "machines": (None, None), "leave": None, "now": 5000.0}
    return read_end(ATTEMPT, Seen(**{**known, **seen}))


GONE = {
    "type": "DisruptionTarget",
    "status": "True",
    "reason": "DeletionByPodGC",
    "message": "PodGC: node no longer exists",
}


@pytest.mark.parametrize(
    ("seen", "state", "cause", "says"),
    [
        ({"job": job("Complete", "")}, TaskState.DONE, Cause.NONE, ""),
        ({"machines": (machine("done"), machine("done"))}, TaskState.DONE, Cause.NONE, ""),
        ({"machines": (machine("failed", TASK, "ValueError: loss"), None)}, TaskState.FAILED, Cause.TASK, "ValueError"),
        ({"machines": (machine("failed", TIMEOUT, "too long"), None)}, TaskState.FAILED, Cause.TIMEOUT, "too long"),
        ({"leave": Verdict(STOPPED, "sweep: it was stopped")}, TaskState.CANCELLED, Cause.STOPPED, "stopped"),
        ({"leave": Verdict(CAPACITY, "no node"), "job": None}, TaskState.FAILED, Cause.CAPACITY, "no node"),
        ({"leave": Verdict(INTERRUPTED, "SIGTERM")}, TaskState.FAILED, Cause.INTERRUPTED, "SIGTERM"),
        ({"pods": (pod(conditions=[GONE]),)}, TaskState.FAILED, Cause.INTERRUPTED, "node no longer exists"),
        (
            {"pods": (pod(reason="Evicted", conditions=[GONE], message="The node was low on resource: memory."),)},
            TaskState.FAILED,
            Cause.INTERRUPTED,
            "low on resource",
        ),
        ({"job": job(reason="PodFailurePolicy")}, TaskState.FAILED, Cause.INTERRUPTED, "words"),
        ({"pods": (pod(exit_code=137, reason="OOMKilled"),)}, TaskState.FAILED, Cause.TASK, "OOMKilled"),
        ({"pods": (pod(exit_code=128, reason="StartError"),)}, TaskState.FAILED, Cause.TASK, "StartError"),
        ({"pods": (pod(exit_code=3),), "last_words": "no disk"}, TaskState.FAILED, Cause.TASK, "exit code 3: no disk"),
        ({"job": job(reason="DeadlineExceeded")}, TaskState.FAILED, Cause.CAPACITY, "words"),
        ({"job": job(reason="DeadlineExceeded"), "pods": (pod(),)}, TaskState.FAILED, Cause.TIMEOUT, "words"),
        ({"job": None}, TaskState.FAILED, Cause.INTERRUPTED, "gone from the cluster"),
    ],
)
def test_each_end_has_its_state_its_cause_and_its_reason(
    seen: dict[str, Any], state: TaskState, cause: Cause, says: str
) -> None:
    outcome = end(**seen)
    assert (outcome.state, outcome.cause) == (state, cause)
    assert says in outcome.reason
    assert bool(outcome.reason) == (cause is not Cause.NONE)


def test_a_training_that_was_done_before_it_could_be_stopped_is_done() -> None:
    assert end(job=job("Complete", ""), leave=Verdict(STOPPED, "it was stopped")).state is TaskState.DONE


def test_a_lost_pod_comes_before_what_others_say_of_it() -> None:
    others = (None, machine("failed", TASK, "ExitCode 1: the other side is gone"))
    assert end(pods=(pod(conditions=[GONE]),), machines=others).cause is Cause.INTERRUPTED


LOST = 'ExecuteUserScriptError: ExitCode 1 ErrorMessage "RuntimeError: Gloo connectFullMesh failed" Command "x"'
OWN = LOST.replace("RuntimeError: Gloo connectFullMesh failed", "KeyError: 'label'")


@pytest.mark.parametrize("elastic", [False, True])
@pytest.mark.parametrize(
    "machines",
    [
        (machine("failed", TASK, LOST, error=LOST), machine("failed", TASK, OWN, error=OWN)),
        (machine("failed", TASK, LOST, error=LOST), machine("left", TASK, f"machine 0: {LOST}", error=OWN)),
        (None, machine("left", TASK, f"machine 0: {LOST}", error=OWN)),
    ],
)
def test_the_script_s_own_error_is_told_whichever_machine_had_it(elastic: bool, machines: Any) -> None:
    """The first machine lost the other, whose script had failed, and may have been the first to say so."""
    outcome = end(machines=machines, leave=Verdict(TASK, f"machine 0: {LOST}"), elastic=elastic)
    assert (outcome.cause, outcome.reason) == (Cause.TASK, OWN)


def test_the_bill_is_the_time_of_the_machines_themselves_if_they_have_told_it() -> None:
    outcome = end(machines=(machine("done", artifact="s3://b/model.tar.gz"), machine("done")))
    assert (outcome.seconds, outcome.billable_s, outcome.usd) == (1800, 1800, 0.5 * 2.0 * 2)
    assert (outcome.started_at, outcome.ended_at, outcome.artifact) == (1000.0, 2800.0, "s3://b/model.tar.gz")
    assert end(pods=(pod(),)).seconds == 1800  # else what the cluster says of its pods
    assert (end().seconds, end().usd, end().started_at) == (0, 0, None)


def test_pods_that_went_with_their_node_are_billed_from_when_they_came_to_when_their_job_ended() -> None:
    gone = end(job=job(reason="PodFailurePolicy"), since=(T1_S - 900.0, T1_S - 880.0))
    assert (gone.started_at, gone.ended_at, gone.seconds, gone.usd) == (T1_S - 900, T1_S, 900, 0.25 * 2.0 * 2)
    assert end(pods=(pod(),), since=(T1_S - 10.0,)).seconds == 1800  # the cluster's word goes before


def test_a_pod_is_billed_from_its_first_moment_until_after_its_last_word() -> None:
    """Its program is fetched first; and while S3 is away its last word waits, and so does it."""
    word = replace(machine("done"), started_at=T1_S - 1790.0, ended_at=T1_S - 240.0)
    assert (outcome := end(pods=(pod("Succeeded", 0),), machines=(word, word))).billable_s == 1800
    assert outcome.ended_at == T1_S


def test_a_pod_of_whose_end_its_node_said_nothing_ended_when_its_cluster_gave_it_up() -> None:
    """Nobody looked before S3 was back: that is no reason to bill until then."""
    ran = {"containerStatuses": [{"state": {"running": {"startedAt": T0}}}], "phase": "Failed"}
    not_ready = {"type": "Ready", "status": "False", "lastTransitionTime": "2026-11-22T10:29:00Z"}
    lost = {**ran, "conditions": [{**GONE, "lastTransitionTime": T1}, not_ready]}
    gone = read_pod({"metadata": {"name": "x", "creationTimestamp": T0}, "spec": {}, "status": lost})
    outcome = end(job=None, pods=(gone,), now=T1_S + 7200.0)
    assert (outcome.ended_at, outcome.billable_s) == (T1_S, 1800)


def test_what_has_not_ended_has_run_so_long_and_is_not_billed_yet() -> None:
    ran = {"containerStatuses": [{"state": {"running": {"startedAt": T0}}}], "phase": "Running"}
    one = read_pod({"metadata": {"name": "x", "creationTimestamp": T0}, "spec": {}, "status": ran})
    assert one.began_at is not None
    outcome = read_life(ATTEMPT, Seen(None, (one,), (), None, now=one.began_at + 360), runs=True)
    assert (outcome.state, outcome.ended_at, outcome.seconds) == (TaskState.RUNNING, None, 360)
    assert (outcome.billable_s, outcome.usd) == (0, 0)


def test_a_pod_without_a_node_says_since_when_and_why() -> None:
    why = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes are available."}
    status = {"phase": "Pending", "conditions": [{**why, "lastTransitionTime": T0}]}
    one = read_pod({"metadata": {"name": "x", "creationTimestamp": T0}, "spec": {}, "status": status})
    assert (one.unschedulable_since, one.waits_for) == (one.made_at, "0/3 nodes are available.")


def test_the_wait_for_a_queue_and_for_nodes_is_told_and_what_is_made_again_later_is_no_part_of_it() -> None:
    def placed(made: str, at: str) -> Pod:
        condition = {"type": "PodScheduled", "status": "True", "lastTransitionTime": at}
        meta = {"name": "nightly-7-2-0-abcde", "creationTimestamp": made}
        return read_pod({"metadata": meta, "spec": {}, "status": {"phase": "Running", "conditions": [condition]}})

    queued = read_job(
        {"metadata": {"creationTimestamp": T0}, "spec": {}, "status": {"startTime": "2026-11-22T10:05:00Z"}}
    )
    quick = placed("2026-11-22T10:05:00Z", "2026-11-22T10:05:01Z")
    slow = placed("2026-11-22T10:05:00Z", "2026-11-22T10:07:00Z")
    again = placed("2026-11-22T10:20:00Z", "2026-11-22T10:29:00Z")
    outcome = read_life(ATTEMPT, Seen(queued, (quick, slow, again), (), None, now=1e9), runs=True)
    assert (outcome.waited_s, outcome.requested_at) == (300.0 + 120.0, queued.made_at)
    straight = read_job({"metadata": {"creationTimestamp": T0}, "spec": {}, "status": {"startTime": T0}})
    assert read_life(ATTEMPT, Seen(straight, (placed(T0, T0),), (), None, now=1e9), runs=True).waited_s == 0.0


def test_a_pod_of_whose_end_nobody_hears_is_billed_until_its_watchdog_has_ended_it() -> None:
    late = end(job=job(reason="PodFailurePolicy"), since=(T1_S - 90_000.0,))
    assert late.seconds == 90_000
    assert late.billable_s == ATTEMPT.max_runtime_s + 600


def test_a_pod_that_its_watchdog_has_ended_ran_out_of_time() -> None:
    found = end(pods=(pod(exit_code=124),))
    assert (found.state, found.cause) == (TaskState.FAILED, Cause.TIMEOUT)
    assert found.reason == "the watchdog ended nightly-7-2-0-abcde: its time was over, and it hung"
