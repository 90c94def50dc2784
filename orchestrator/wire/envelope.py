"""What another attempt takes of a task's dollars at the least, and why the rest does not pay for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.wire.task import SHORTEST_S

if TYPE_CHECKING:
    from orchestrator.wire.task import Place, Task

HOUR, MINUTE = 3600, 60
_MOST_DIGITS = 9


def hourly_usd(task: Task, place: Place) -> float:
    """Return the dollars of an hour there. Of places that are asked for together, the dearest may be the one taken."""
    return max(each.hourly_usd for each in task.together(place))


def kept_back_s(task: Task, place: Place) -> int:
    """Return the seconds that are kept back there, for what the platform may bill besides the training."""
    return max(each.kept_back_s for each in task.together(place))


def least_usd(task: Task, place: Place) -> float:
    """Return the dollars that must be left for an attempt there: for the shortest one, and for what is kept back."""
    return hourly_usd(task, place) * (SHORTEST_S + kept_back_s(task, place)) / HOUR


def say_shortage(task: Task, spent: float, place: Place, moving: float = 0.0) -> str:
    """Return in words why the dollars left pay for no attempt at a place, with all that the sum is made of.

    `moving` is what it costs to bring the task's checkpoint there, which is said by whoever knows it.
    """
    envelope = task.limits.envelope or 0.0
    left, least = max(envelope - spent, 0.0), least_usd(task, place) + moving
    digits = 2 if envelope >= 1 else 4
    while digits < _MOST_DIGITS and round(left, digits) >= round(least, digits):
        digits += 1  # else it would say that so much does not pay for as much
    said, total, rest, needed, rate = (
        f"${usd:.{digits}f}" for usd in (spent, envelope, left, least, hourly_usd(task, place))
    )
    shortest, kept = _duration(SHORTEST_S), _duration(kept_back_s(task, place))
    takes = f"{shortest} of training and {kept} that {place.lane.platform} may bill besides, at {rate} an hour"
    return (
        f"{said} of its {total} are spent, and the {rest} left pay for no further attempt: "
        f"on {place.lane} it takes {needed} at the least, for {takes}"
    )


def _duration(seconds: int) -> str:
    whole, unit = (seconds // MINUTE, "minute") if seconds and seconds % MINUTE == 0 else (seconds, "second")
    return f"{whole} {unit}{'' if whole == 1 else 's'}"
