"""Makes a row of each attempt that a result tells of: what it says of its lane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.wire.result import Cause

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orchestrator.wire.result import Outcome, Result

HOUR_S = 3600


@dataclass(frozen=True)
class _Asked:
    """What an attempt says of its lane's machines."""

    refused: bool
    """The lane refused it, all its sites did: a refusal after which another site of it is asked is none yet."""
    since: float | None
    """When the lane was asked first, in seconds since the epoch."""
    waited_s: float


def waits_of(outcomes: Sequence[Outcome]) -> float:
    """Return the seconds that attempts have waited for machines, all together."""
    return sum(one.waited_s for one in _asked(outcomes))


def rows_of_attempts(run: str, result: Result) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `attempts` that a result stands for."""
    for outcome, asked in zip(result.outcomes, _asked(result.outcomes), strict=True):
        is_refusal = outcome.cause is Cause.CAPACITY and not outcome.seconds
        requested = asked.since
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
            "cause": Cause.NONE.value if is_refusal and not asked.refused else outcome.cause.value,
            "hour": None if requested is None else int(requested // HOUR_S),
            "requested_at": requested,
            "started_at": outcome.started_at,
            "ended_at": outcome.ended_at,
            "seconds": outcome.seconds,
            "waited_s": asked.waited_s,
            "start_s": _start_s(outcome),
            "interruptions": outcome.interruptions,
        }


def _asked(outcomes: Sequence[Outcome]) -> Iterator[_Asked]:
    """Yield for each attempt what it says of its lane.

    A lane with sites, such as zones, has refused when the last of them has. What was waited for one site counts with
    the next: the lane was asked all the time.
    """
    began: float | None = None
    sites: set[str] = set()
    for number, outcome in enumerate(outcomes):
        following = outcomes[number + 1] if number + 1 < len(outcomes) else None
        since = outcome.requested_at if began is None else began
        sites.add(outcome.site)
        if outcome.cause is Cause.CAPACITY and not outcome.seconds and _asks_another(outcome, following, sites):
            began = since
            yield _Asked(False, outcome.requested_at, 0.0)
            continue
        refused = outcome.cause is Cause.CAPACITY and not outcome.seconds
        before = 0.0 if since is None or outcome.requested_at is None else outcome.requested_at - since
        yield _Asked(
            refused, since if refused else outcome.requested_at, max(before, 0.0) + _waited_s(outcome, following)
        )
        began, sites = None, set()


def _asks_another(outcome: Outcome, following: Outcome | None, sites: set[str]) -> bool:
    """Return whether the next attempt asks a site of the same lane that has not refused in this round."""
    return following is not None and following.lane == outcome.lane and following.site not in {*sites, ""}


def _waited_s(outcome: Outcome, following: Outcome | None) -> float:
    """Return the seconds that an attempt waited for machines by itself.

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
