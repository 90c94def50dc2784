"""Tells how an attempt stands, by what EC2 says of its instances and the machines have said in S3. It sends nothing.

What the machines say goes before what EC2 says: EC2 only knows that they are gone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.platforms.ec2.machines import RUNNING
from orchestrator.training.bare.leave import INTERRUPTED, STOPPED, TASK, TIMEOUT, Verdict
from orchestrator.training.bare.outcome import DONE
from orchestrator.wire.result import Cause, TaskState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.platforms.ec2.left import Launched, Words
    from orchestrator.platforms.ec2.machines import Machine
    from orchestrator.wire.result import Attempt

CAPACITY = "capacity"
"""EC2 took the instance back before it ran: machines never say so themselves."""
_CAUSES = {
    TASK: Cause.TASK,
    TIMEOUT: Cause.TIMEOUT,
    INTERRUPTED: Cause.INTERRUPTED,
    STOPPED: Cause.STOPPED,
    CAPACITY: Cause.CAPACITY,
}
_CODES = {
    "Server.SpotInstanceTermination": (INTERRUPTED, "EC2 took the spot instance back"),
    "Server.SpotInstanceShutdown": (INTERRUPTED, "EC2 took the spot instance back"),
    "Server.InsufficientInstanceCapacity": (CAPACITY, "EC2 had no such instance after all"),
    "Client.UserInitiatedShutdown": (STOPPED, "somebody terminated the instance"),
    "Client.InstanceTerminated": (STOPPED, "somebody terminated the instance"),
}
_UNSEEN_S = 300.0
"""Seconds for which DescribeInstances may not show what has just been launched."""


@dataclass(frozen=True)
class Standing:
    """An attempt's state, and why."""

    state: TaskState
    cause: Cause = Cause.NONE
    reason: str = ""
    tell: Verdict | None = None
    """What the machines that are left are to be told: one of them is lost."""


def stand(
    attempt: Attempt, machines: Sequence[Machine], words: Words, launched: Launched | None, now: float
) -> Standing | None:
    """Return how the attempt stands; None if nothing was ever launched for it."""
    if _all_done(attempt, words):
        return Standing(TaskState.DONE)
    if not machines and launched is None and not words.here:
        return None
    if not machines and launched is not None and not words.here and now < launched.at + _UNSEEN_S:
        return Standing(TaskState.STARTING)
    if not any(machine.alive for machine in machines) or len(words.outcomes) == attempt.instances:
        return _ended(attempt, machines, words)
    if not all(machine.alive for machine in machines) and words.leave is None:
        lost = next(machine for machine in machines if not machine.alive)
        if lost.index not in words.outcomes:
            return Standing(TaskState.RUNNING, tell=_why_gone(attempt, lost))
    is_up = all(machine.state == RUNNING for machine in machines) and len(machines) == attempt.instances
    return Standing(TaskState.RUNNING if is_up or words.here else TaskState.STARTING)


def _all_done(attempt: Attempt, words: Words) -> bool:
    done = [outcome for outcome in words.outcomes.values() if outcome.state == DONE]
    return len(done) == attempt.instances


def _ended(attempt: Attempt, machines: Sequence[Machine], words: Words) -> Standing:
    """Return why an attempt is over that is not done."""
    verdict = words.leave or _own_verdict(words)
    gone = [_why_gone(attempt, machine) for machine in machines if machine.index not in words.outcomes]
    stopped = any(machine.code in _CODES and _CODES[machine.code][0] == STOPPED for machine in machines)
    if verdict is None:
        verdict = gone[0] if gone else Verdict(INTERRUPTED, "its instances are gone, and have left no word")
    elif verdict.cause == INTERRUPTED and stopped and "SIGTERM" in verdict.reason:
        verdict = Verdict(STOPPED, _CODES["Client.UserInitiatedShutdown"][1])
    state = TaskState.CANCELLED if verdict.cause == STOPPED else TaskState.FAILED
    return Standing(state, _CAUSES.get(verdict.cause, Cause.TASK), " ".join(verdict.reason.split()))


def _own_verdict(words: Words) -> Verdict | None:
    """Return why the first machine ended that is not done; None if none has said so."""
    failed = [one for _, one in sorted(words.outcomes.items()) if one.state != DONE]
    return Verdict(failed[0].cause, failed[0].reason) if failed else None


def _why_gone(attempt: Attempt, machine: Machine) -> Verdict:
    """Return why a machine is gone that has said nothing, as EC2 tells it."""
    if machine.code in _CODES:
        cause, words = _CODES[machine.code]
        return Verdict(cause, f"{words}: {machine.id}, {machine.words or machine.code}")
    ran = (machine.ended_at or machine.launched_at) - machine.launched_at
    if machine.code == "Client.InstanceInitiatedShutdown":
        if ran >= attempt.max_runtime_s:
            return Verdict(TIMEOUT, f"the watchdog ended {machine.id}: it hung after {attempt.max_runtime_s} s")
        hint = "its console output may tell (`aws ec2 get-console-output`)"
        return Verdict(TASK, f"{machine.id} shut itself down before it could say why: {hint}")
    cause = TASK if machine.code.startswith("Client.") else INTERRUPTED
    return Verdict(cause, f"{machine.id} is gone: {machine.words or machine.code or 'EC2 gives no reason'}")
