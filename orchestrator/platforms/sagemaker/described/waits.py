"""Reads from a training's secondary statuses how long it waited for machines, and how often it lost them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime

_WAITS = ("Starting", "Pending", "LaunchingMLInstances")
"""Secondary statuses in which a training may lack machines."""


def waited_seconds(transitions: list[dict[str, Any]], until: float | None) -> float:
    """Return the seconds until a moment in which SageMaker had no machines for a training, as its statuses say.

    A status that has not ended lasts until then. 0 where the moment is not known.
    """
    if until is None:
        return 0.0
    waits = [one for one in transitions if one.get("Status") in _WAITS and _says_capacity(one)]
    spans = ((one["StartTime"].timestamp(), _epoch(one.get("EndTime")) or until) for one in waits)
    return float(sum(max(min(end, until) - began, 0.0) for began, end in spans))


def times_interrupted(transitions: list[dict[str, Any]]) -> int:
    """Return how often SageMaker took a training's machines away."""
    return sum(one.get("Status") == "Interrupted" for one in transitions)


def lost_at(transitions: list[dict[str, Any]]) -> float | None:
    """Return when SageMaker took a training's machines away, if it has not given it others since; else None."""
    statuses = [one.get("Status") for one in transitions]
    if "Interrupted" not in statuses:
        return None
    last = len(statuses) - 1 - statuses[::-1].index("Interrupted")
    waits = all(status in (*_WAITS, "Restarting", "Interrupted") for status in statuses[last:])
    return _epoch(transitions[last].get("StartTime")) if waits else None


def _says_capacity(transition: dict[str, Any]) -> bool:
    """Return whether a training that has not begun waits for machines. Pending is what SageMaker calls just that."""
    message = str(transition.get("StatusMessage") or "").lower()
    return transition["Status"] == "Pending" or "capacity" in message


def _epoch(moment: datetime | None) -> float | None:
    return moment.timestamp() if moment else None
