"""Makes a row of each attempt that a result tells of: what it says of its lane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.wire.result import Cause

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.wire.result import Outcome, Result

HOUR_S = 3600


def rows_of_attempts(run: str, result: Result) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `attempts` that a result stands for."""
    for place, outcome in enumerate(result.outcomes):
        following = result.outcomes[place + 1] if place + 1 < len(result.outcomes) else None
        requested = outcome.requested_at
        yield {
            "run": run,
            "task": result.task,
            "number": outcome.number,
            "platform": outcome.lane.platform,
            "region": outcome.lane.region,
            "instance_type": outcome.lane.instance_type,
            "purchase": outcome.lane.purchase.value,
            "instances": outcome.instances,
            "state": outcome.state.value,
            "cause": outcome.cause.value,
            "hour": None if requested is None else int(requested // HOUR_S),
            "requested_at": requested,
            "started_at": outcome.started_at,
            "ended_at": outcome.ended_at,
            "seconds": outcome.seconds,
            "waited_s": _waited_s(outcome, following),
            "start_s": _start_s(outcome),
            "interruptions": outcome.interruptions,
        }


def _waited_s(outcome: Outcome, following: Outcome | None) -> float:
    """Return the seconds that an attempt waited for machines.

    One that was refused has waited until its lane was asked again: a launcher that asks again lets some time pass.
    """
    if outcome.cause is not Cause.CAPACITY or outcome.requested_at is None or outcome.seconds:
        return outcome.waited_s
    until = outcome.ended_at
    if following is not None and following.lane == outcome.lane and following.requested_at is not None:
        until = following.requested_at
    return outcome.waited_s if until is None else max(until - outcome.requested_at, outcome.waited_s)


def _start_s(outcome: Outcome) -> float | None:
    """Return the seconds that a training held its slot to start and to end; None if that is not known.

    They are neither waited nor billed. What happened between its start and its end, such as an interruption, belongs
    to its hours.
    """
    requested, started, ended = outcome.requested_at, outcome.started_at, outcome.ended_at
    if requested is None or started is None or ended is None or not outcome.state.terminal:
        return None
    freed = ended if outcome.freed_at is None else outcome.freed_at
    return max(started - requested - outcome.waited_s, 0.0) + max(freed - ended, 0.0)
