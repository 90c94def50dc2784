"""Says how an attempt has ended, from all that is known of it: what its machines have said, and what its cluster does.

It sends nothing. A machine that could speak is believed before the cluster, which sees exit codes only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.platforms.eks.kube.job import DONE, Job
from orchestrator.platforms.eks.sent.manifests import paid_s
from orchestrator.training.bare.telling.outcome import DONE as MACHINE_DONE
from orchestrator.training.bare.telling.outcome import FAILED as MACHINE_FAILED
from orchestrator.training.bare.telling.outcome import usage_of_all, why_failed
from orchestrator.training.bare.together import leave
from orchestrator.wire.result import Cause, Outcome, TaskState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.platforms.eks.kube.pods import Pod
    from orchestrator.training.bare.telling.outcome import MachineOutcome
    from orchestrator.training.bare.together.leave import Verdict
    from orchestrator.wire.result import Attempt

CAPACITY = "capacity"
"""The cause that we give for a training that no node had room for. Machines know the others."""
FIRST_PODS_S = 60.0
"""Seconds after a Job was let begin in which its first pods are made."""
_AT_ONCE_S = 2.0
"""Seconds that are no wait: moments of Kubernetes are told in whole ones."""
_CAUSES = {
    leave.TASK: (TaskState.FAILED, Cause.TASK),
    leave.TIMEOUT: (TaskState.FAILED, Cause.TIMEOUT),
    leave.INTERRUPTED: (TaskState.FAILED, Cause.INTERRUPTED),
    leave.STOPPED: (TaskState.CANCELLED, Cause.STOPPED),
    CAPACITY: (TaskState.FAILED, Cause.CAPACITY),
}


@dataclass(frozen=True)
class Seen:
    """What is known of an attempt."""

    job: Job | None
    """None when its cluster has no such Job any more."""
    pods: tuple[Pod, ...]
    machines: tuple[MachineOutcome | None, ...]
    """The word of each machine on how it ended; None for one that has said nothing."""
    leave: Verdict | None
    """Why all were told to leave, if they were."""
    last_words: str = ""
    """The last line that a pod has printed which has left no other word."""
    now: float = 0.0
    elastic: bool = False
    """Pods may come and go: that one was lost ends nothing, and the first machine's word counts for all."""
    since: tuple[float, ...] = ()
    """The moments at which machines began that have said they are here. A pod on a lost node says no more than that."""


@dataclass(frozen=True)
class _End:
    state: TaskState
    cause: Cause
    reason: str = ""


def read_end(attempt: Attempt, seen: Seen) -> Outcome:
    """Return the outcome of an attempt that has ended."""
    return _outcome(attempt, seen, _end(seen))


def read_life(attempt: Attempt, seen: Seen, *, runs: bool) -> Outcome:
    """Return the outcome so far of an attempt that has not ended."""
    return _outcome(attempt, seen, _End(TaskState.RUNNING if runs else TaskState.STARTING, Cause.NONE))


def _end(seen: Seen) -> _End:
    counted = seen.machines[:1] if seen.elastic else seen.machines
    if (seen.job and seen.job.state == DONE) or all(one and one.state == MACHINE_DONE for one in counted):
        return _End(TaskState.DONE, Cause.NONE)
    asked = seen.leave
    if asked and asked.cause in (leave.STOPPED, CAPACITY):
        return _as(asked.cause, asked.reason)
    # A pod that was taken away has the first word: whatever the others say comes of that.
    for pod in () if seen.elastic else seen.pods:
        if pod.disrupted:
            return _as(leave.INTERRUPTED, f"{pod.name} was taken away: {pod.message or pod.disrupted}")
    if seen.job and seen.job.reason == "PodFailurePolicy":
        return _as(leave.INTERRUPTED, seen.job.message)
    for one in seen.machines:
        if one and one.state == MACHINE_FAILED and one.cause != leave.INTERRUPTED:
            return _as(one.cause, why_failed(seen.machines, one.reason))
    if killed := next((pod for pod in seen.pods if pod.killed_for), None):
        why = "it took more memory than it may" if killed.killed_for == "OOMKilled" else killed.message
        return _as(leave.TASK, f"{killed.name}: {killed.killed_for}: {why}")
    if asked:
        return _as(asked.cause, why_failed(seen.machines, asked.reason))
    return _without_a_word(seen)


def _without_a_word(seen: Seen) -> _End:
    """Return the end of an attempt of which no machine has said anything."""
    if seen.job is None:
        return _as(leave.INTERRUPTED, "its Job is gone from the cluster, and nobody has said why")
    if seen.job.reason == "DeadlineExceeded":
        began = any(pod.began_at for pod in seen.pods)
        return _as(leave.TIMEOUT if began else CAPACITY, seen.job.message)
    failed = next((pod for pod in seen.pods if pod.exit_code), None)
    if failed and failed.exit_code == leave.HUNG:
        return _as(leave.TIMEOUT, f"the watchdog ended {failed.name}: its time was over, and it hung")
    if failed:
        said = f": {seen.last_words}" if seen.last_words else ""
        return _as(leave.TASK, f"{failed.name} ended with exit code {failed.exit_code}{said}")
    return _as(leave.INTERRUPTED, f"{seen.job.reason}: {seen.job.message}")


def _as(cause: str, reason: str) -> _End:
    state, found = _CAUSES.get(cause, _CAUSES[leave.INTERRUPTED])
    return _End(state, found, reason or cause)


def _outcome(attempt: Attempt, seen: Seen, end: _End) -> Outcome:
    over = end.state.terminal
    told = [one.started_at for one in seen.machines if one]
    # A pod is there before its program begins, and after its last word: until S3 has taken that, and its log.
    began = _first(min, [*told, *(pod.began_at for pod in seen.pods)], seen.since)
    said = [one.ended_at for one in seen.machines if one]
    last = _first(max, [*said, *(pod.ended_at for pod in seen.pods)], [seen.job.ended_at if seen.job else None])
    ended = (last or seen.now) if over else None
    seconds = max(0.0, (ended or seen.now) - began) if began is not None else 0.0
    # Nobody hears of the end of a pod whose node does not answer: its watchdog has ended it by then.
    billable_s = min(seconds, paid_s(attempt.max_runtime_s, attempt.allowance_s)) if over else 0.0
    return Outcome(
        number=attempt.number,
        lane=attempt.lane,
        training=attempt.training,
        state=end.state,
        cause=end.cause,
        reason=end.reason,
        seconds=seconds,
        billable_s=billable_s,
        usd=billable_s / 3600 * attempt.rate * attempt.instances,
        instances=attempt.instances,
        started_at=began,
        ended_at=ended,
        requested_at=seen.job.made_at if seen.job else None,
        waited_s=_waited(seen),
        artifact=next((one.artifact for one in seen.machines if one and one.artifact), ""),
        metrics=usage_of_all([one for one in seen.machines if one]),
    )


def _waited(seen: Seen) -> float:
    """Return the seconds in which there was no room: in a queue, and until each of the first pods had a node.

    Pods that came in place of lost ones are no part of the wait before the training began.
    """
    job = seen.job
    if job is None or job.made_at is None:
        return 0.0
    began = job.began_at or seen.now
    first = [pod for pod in seen.pods if pod.made_at <= began + FIRST_PODS_S]
    nodes = max((_until_placed(pod, seen.now) for pod in first), default=0.0)
    waits = (began - job.made_at, nodes)
    return sum(wait for wait in waits if wait > _AT_ONCE_S)


def _until_placed(pod: Pod, now: float) -> float:
    """Return the seconds from when a pod was made until it had a node, or until now while it has none."""
    if pod.placed_at is not None:
        return pod.placed_at - pod.made_at
    return now - pod.made_at if pod.unschedulable_since is not None else 0.0


def _first(choose: object, *lists: Iterable[float | None]) -> float | None:
    """Return the least or the greatest moment of the first list that has any."""
    for moments in lists:
        known = [moment for moment in moments if moment]
        if known:
            return min(known) if choose is min else max(known)
    return None
