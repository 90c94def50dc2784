"""Tells how an attempt stands, by what EC2 says of its instances and the machines have said in S3. It sends nothing.

What the machines say goes before what EC2 says: EC2 only knows that they are gone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.platforms.ec2.sent.user_data import watchdog_s
from orchestrator.platforms.ec2.watching.bill import UNSEEN_S
from orchestrator.platforms.ec2.watching.machines import RUNNING
from orchestrator.training.bare.telling.outcome import DONE, why_failed
from orchestrator.training.bare.together.leave import INTERRUPTED, STOPPED, TASK, TIMEOUT, Verdict
from orchestrator.wire.result import Cause, TaskState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.platforms.ec2.watching.left import Launched, Words
    from orchestrator.platforms.ec2.watching.machines import Machine
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
_BY_ITSELF = "Client.InstanceInitiatedShutdown"


@dataclass(frozen=True)
class Standing:
    """An attempt's state, and why."""

    state: TaskState
    cause: Cause = Cause.NONE
    reason: str = ""
    tell: Verdict | None = None
    """What the machines that are left are to be told: one of them is lost."""
    silent: str = ""
    """The instance that ended by itself without a word: its console may tell more."""


def stand(
    attempt: Attempt, machines: Sequence[Machine], words: Words, launched: Launched | None, now: float
) -> Standing | None:
    """Return how the attempt stands; None if nothing was ever launched for it."""
    if _all_done(attempt, words):
        return Standing(TaskState.DONE)
    if not machines and launched is None and not words.here:
        return None
    if not machines and launched is not None and not words.here and now < launched.at + UNSEEN_S:
        return Standing(TaskState.STARTING)
    if not any(machine.alive for machine in machines) or len(words.outcomes) == attempt.instances:
        return _ended(attempt, machines, words, now)
    if not all(machine.alive for machine in machines) and words.leave is None:
        lost = next(machine for machine in machines if not machine.alive)
        if lost.index not in words.outcomes:
            return Standing(TaskState.RUNNING, tell=_why_gone(attempt, lost, words, now), silent=_silent(lost))
    is_up = all(machine.state == RUNNING for machine in machines) and len(machines) == attempt.instances
    return Standing(TaskState.RUNNING if is_up or words.here else TaskState.STARTING)


def _all_done(attempt: Attempt, words: Words) -> bool:
    done = [outcome for outcome in words.outcomes.values() if outcome.state == DONE]
    return len(done) == attempt.instances


def _ended(attempt: Attempt, machines: Sequence[Machine], words: Words, now: float) -> Standing:
    """Return why an attempt is over that is not done."""
    verdict = words.leave or _own_verdict(words)
    gone = [machine for machine in machines if machine.index not in words.outcomes]
    silent = _silent(gone[0]) if gone and verdict is None else ""
    stopped = any(machine.code in _CODES and _CODES[machine.code][0] == STOPPED for machine in machines)
    if verdict is None:
        verdict = Verdict(INTERRUPTED, "its instances are gone, and have left no word")
        if gone:
            verdict = _why_gone(attempt, gone[0], words, now)
    elif verdict.cause == INTERRUPTED and stopped and "SIGTERM" in verdict.reason:
        verdict = Verdict(STOPPED, _CODES["Client.UserInitiatedShutdown"][1])
    state = TaskState.CANCELLED if verdict.cause == STOPPED else TaskState.FAILED
    reason = " ".join(why_failed(words.outcomes.values(), verdict.reason).split())
    return Standing(state, _CAUSES.get(verdict.cause, Cause.TASK), reason, silent=silent)


def _own_verdict(words: Words) -> Verdict | None:
    """Return why the first machine ended that is not done; None if none has said so."""
    failed = [one for _, one in sorted(words.outcomes.items()) if one.state != DONE]
    return Verdict(failed[0].cause, failed[0].reason) if failed else None


def _silent(machine: Machine) -> str:
    return machine.id if machine.code == _BY_ITSELF else ""


def _why_gone(attempt: Attempt, machine: Machine, words: Words, now: float) -> Verdict:
    """Return why a machine is gone that has said nothing, as EC2 tells it."""
    if machine.code in _CODES:
        cause, said = _CODES[machine.code]
        return Verdict(cause, f"{said}: {machine.id}, {machine.words or machine.code}")
    if machine.code != _BY_ITSELF:
        cause = TASK if machine.code.startswith("Client.") else INTERRUPTED
        return Verdict(cause, f"{machine.id} is gone: {machine.words or machine.code or 'EC2 gives no reason'}")
    # EC2 does not tell when an instance has shut itself down: it was now at the latest.
    if (machine.ended_at or now) - machine.launched_at >= watchdog_s(attempt.max_runtime_s, attempt.allowance_s):
        return Verdict(TIMEOUT, f"the watchdog ended {machine.id}: it hung after {attempt.max_runtime_s} s")
    if machine.index in words.here:
        return Verdict(INTERRUPTED, f"{machine.id} shut itself down while it worked, before it could say why")
    return Verdict(TASK, f"{machine.id} shut itself down before it began, and could not say why")
