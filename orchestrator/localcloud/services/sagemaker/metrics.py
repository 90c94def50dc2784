"""The metrics that a training's log has, as its MetricDefinitions find them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


def read_metrics(lines: Iterable[str], definitions: list[dict[str, str]], now: float) -> dict[str, dict[str, Any]]:
    """Return by name the last value that each definition's expression finds in the log, as AWS shows a metric."""
    found: dict[str, float] = {}
    compiled = [(each["Name"], re.compile(each["Regex"])) for each in definitions]
    for line in lines:
        for name, pattern in compiled:
            match = pattern.search(line)
            if match and (value := _number(match)) is not None:
                found[name] = value
    return {name: {"MetricName": name, "Value": value, "Timestamp": now} for name, value in found.items()}


def _number(match: re.Match[str]) -> float | None:
    text = match.group(1) if match.re.groups else match.group()
    try:
        return float(text)
    except (TypeError, ValueError):
        return None
