"""Chooses the next place of a task that has a deadline and keeps checkpoints, by the policy for spot. Pure.

A training on spot is started for a *stretch* only. It is so long that, if nothing at all is done in it, the work could
still be done on demand by the deadline. Then the platform ends it, whether it runs or waits, and it saves a checkpoint.
Where it goes on is chosen anew, from what is left. A training that has no machines may be left before that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from orchestrator.launcher.moving.saved import COPY_GB_PER_HOUR, NOTHING_AHEAD
from orchestrator.launcher.spot_policy import Chance, Situation, choose, has_slack_to_begin, longest_wait
from orchestrator.launcher.spot_slack import LOOK_HOURS, START_HOURS
from orchestrator.launcher.tried import Tried
from orchestrator.wire.result import Cause
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.launcher.moving.saved import Ahead, Saved
    from orchestrator.wire.result import Attempt, Outcome
    from orchestrator.wire.task import Expected, Place, Task

HOUR = 3600.0
LEAST_LEFT = 0.05
"""The part of the work that is thought to be left at the least: what was done is estimated."""
_USUAL_SHARE = 0.9
_USUAL_HOURS = 6.0
"""The part of the time in which spot is thought to be there, and the hours of our own that weigh as much."""


@dataclass(frozen=True)
class Stretch:
    """The next place, and for how long."""

    place: int
    seconds: int | None
    """The time after which it is chosen anew; None if it goes on to its end."""


def choose_stretch(task: Task, tried: Sequence[Tried], now: float, ahead: Ahead = NOTHING_AHEAD) -> Stretch | None:
    """Return where the task goes on, after these attempts, all of which have ended.

    None if nothing is to be weighed: the task has no deadline or no checkpoints, or its places say nothing of hours.
    """
    chances = weigh(task, tried, now, ahead.saved)
    if not chances or task.limits.end_by is None:
        return None
    barred = {number for number, place in enumerate(task.places) if place.lane.region in ahead.closed}
    chances = [replace(chance, is_open=chance.is_open and n not in barred) for n, chance in enumerate(chances)]
    left = (task.limits.end_by - now) / HOUR
    chosen = ahead.moves_to
    if chosen is None and not tried and ahead.saved is None and has_slack_to_begin(chances, left):
        chosen = 0  # the plan has weighed the places, and who has slots where
    if chosen is None or (chances[chosen].spot and longest_wait(chances, left) <= 0):  # it is too late for that now
        situation = Situation(left, look=LOOK_HOURS, at_risk=task.limits.saved_every_s / HOUR)
        chosen = choose(chances, replace(situation, closed_hours=_closed_hours(tried, now)))
    if chosen is None:  # what waits for spot asks for it again: only an answer tells that it is back
        spot = [number for number, chance in enumerate(chances) if chance.spot and number not in barred]
        if not spot:
            return None
        chosen = min(spot, key=lambda number: chances[number].usd_per_hour * chances[number].hours)
    if not chances[chosen].spot:
        return Stretch(chosen, None)
    wait = longest_wait(chances, left) - _back_hours(task, chosen, ahead.saved)
    return Stretch(chosen, None if math.isinf(wait) else max(int(wait * HOUR), 0))


@dataclass(frozen=True)
class Lost:
    """A training on spot whose machines were taken away, or were never given: it has not ended."""

    attempt: Attempt
    outcome: Outcome
    waits: bool
    """It has no machines now."""
    usd_left: float | None = None
    """Dollars that are left of the task's envelope; None if it has none."""


def choose_to_leave(
    task: Task, tried: Sequence[Tried], lost: Lost, now: float, saved: Saved | None = None
) -> int | None:
    """Return the place at which a task had better go on, though its training has not ended; None to leave it alone.

    Ask when the training has just lost its machines, or has waited for some for long.
    """
    here, end_by = lost.attempt.place, task.limits.end_by
    as_ended = replace(lost.outcome, cause=Cause.INTERRUPTED, ended_at=now)
    so_far = [*tried, Tried(lost.attempt, as_ended)]
    chances = weigh(task, so_far, now, saved)
    if not chances or end_by is None or not chances[here].spot:
        return None
    chances[here] = replace(chances[here], is_open=not lost.waits)
    situation = Situation((end_by - now) / HOUR, look=LOOK_HOURS, at_risk=task.limits.saved_every_s / HOUR)
    if lost.waits:
        situation = replace(situation, closed_hours=_closed_hours(so_far, now))
    else:
        situation = replace(situation, at=here)
    chosen = choose(chances, situation)
    if chosen is None or chosen == here or not _is_paid(task.places[chosen], chances[chosen], lost.usd_left):
        return None
    return chosen


def _is_paid(place: Place, chance: Chance, usd_left: float | None) -> bool:
    """Return whether so many dollars pay for all the work left there, whatever its machines may cost."""
    most = chance.start_usd + place.hourly_usd * (chance.hours + chance.start_hours + place.kept_back_s / HOUR)
    return usd_left is None or most <= usd_left


def weigh(task: Task, tried: Sequence[Tried], now: float, saved: Saved | None) -> list[Chance]:
    """Return what is known of the task's places, in their order; nothing if none are to be weighed."""
    if task.limits.end_by is None or not task.limits.saved_every_s:
        return []
    weighed = [(place, place.expected) for place in task.places if place.expected is not None]
    if len(weighed) < len(task.places):
        return []
    weighing = _Weighing(task, tried, now, saved)
    return [weighing.chance(place, expected) for place, expected in weighed]


def _back_hours(task: Task, chosen: int, saved: Saved | None) -> float:
    """Return the hours until a checkpoint is back from the chosen place in the Region of one on demand."""
    region = task.places[chosen].lane.region
    safe = {place.lane.region for place in task.places if place.lane.purchase is not Purchase.SPOT}
    return saved.gb / COPY_GB_PER_HOUR if saved and safe and region not in safe else 0.0


def has_time_left(task: Task, tried: Sequence[Tried]) -> bool:
    """Return whether a training that ran out of time had been given a stretch only, not all the time of its task."""
    ran = sum(one.outcome.seconds for one in tried)
    return bool(tried[-1].attempt.max_wait_s) and ran < task.limits.max_runtime_s


@dataclass(frozen=True)
class _Weighing:
    """All that a task's places are weighed by at one moment."""

    task: Task
    tried: Sequence[Tried]
    now: float
    saved: Saved | None

    def chance(self, place: Place, expected: Expected) -> Chance:
        """Return what is known of a place, where the task is expected to take so long."""
        saved, region = self.saved, place.lane.region
        there = [one for one in self.tried if one.attempt.is_at(place)]
        last_lost = max((_ended(one) for one in there if _was_lost(one)), default=None)
        usual_life = 1 / expected.interruptions_per_hour if expected.interruptions_per_hour > 0 else math.inf
        return Chance(
            expected.usd_per_hour,
            hours=expected.hours * _left(self.task, region, self.tried, everywhere=saved is not None),
            start_hours=START_HOURS + (saved.hours_to(region) if saved else 0.0),
            start_usd=saved.usd_to(region) if saved else 0.0,
            spot=place.lane.purchase is Purchase.SPOT,
            is_open=last_lost is None or self.now - last_lost >= self.task.limits.patience_s,
            open_hours=2 * usual_life if last_lost is None else (self.now - last_lost) / HOUR,
            share=_share(there),
            group=region,
        )


def _left(task: Task, region: str, tried: Sequence[Tried], *, everywhere: bool) -> float:
    """Return the part of the work that is left in a Region: what was saved elsewhere counts where it can be brought.

    What an attempt had not saved when it ended is lost, and so is the time until it was at work.
    """
    done = 0.0
    for one in tried:
        expected = task.places[one.attempt.place].expected
        if (everywhere or one.attempt.lane.region == region) and expected:
            saved = one.outcome.seconds - task.limits.saved_every_s - START_HOURS * HOUR
            done += max(saved, 0.0) / HOUR / expected.hours
    return max(1 - done, LEAST_LEFT)


def _ended(one: Tried) -> float:
    return one.outcome.ended_at or one.attempt.recorded_at


def _was_lost(one: Tried) -> bool:
    """Return whether the place had no machines: refused, taken away, or for most of a stretch."""
    if one.outcome.cause is Cause.INTERRUPTED:
        return True
    waited = _ended(one) - one.attempt.recorded_at - one.outcome.seconds
    return one.outcome.cause is Cause.CAPACITY and waited >= one.outcome.seconds


def _share(there: Sequence[Tried]) -> float:
    ran = sum(one.outcome.seconds for one in there) / HOUR
    passed = sum(max(_ended(one) - one.attempt.recorded_at, one.outcome.seconds) for one in there) / HOUR
    return (ran + _USUAL_SHARE * _USUAL_HOURS) / (passed + _USUAL_HOURS)


def _closed_hours(tried: Sequence[Tried], now: float) -> float:
    """Return the hours for which spot has been away: since the first of the last refusals in a row."""
    since = now
    for one in reversed(tried):
        if not _was_lost(one):
            break
        since = one.attempt.recorded_at + one.outcome.seconds
    return (now - since) / HOUR
