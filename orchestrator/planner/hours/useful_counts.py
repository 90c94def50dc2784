"""Which numbers of instances are worth a look: more of them that are no faster are only dearer."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orchestrator.planner.model.arrays import Floats

    Pace = Mapping[tuple[str, int], tuple[int, float]]

FASTER = 1 - 1e-9
"""The factor below which hours must lie to be fewer: they may differ in their last bits."""


def useless_counts(pace: Pace, hours: Floats) -> dict[str, list[int]]:
    """Return for each instance type the numbers of instances on which no task is faster than on some fewer.

    `pace` and `hours` are those of Runtimes; the numbers of each type come in ascending order.
    """
    by_type: dict[str, dict[int, tuple[int, float]]] = {}
    for (name, count), source in pace.items():
        by_type.setdefault(name, {})[count] = source
    found: dict[str, list[int]] = {}
    for name, sources in by_type.items():
        useful: list[tuple[int, float]] = []
        for count, source in sources.items():
            if all(_is_faster(source, fewer, hours) for fewer in useful):
                useful.append(source)
            else:
                found.setdefault(name, []).append(count)
    return found


def useless_notes(useless: Mapping[str, list[int]], limits: Mapping[tuple[str, int], str]) -> Iterator[str]:
    """Yield why some numbers of instances are in no plan. `limits` says it for each type on each number."""
    types: dict[tuple[str, str], list[str]] = {}
    for name, counts in useless.items():
        types.setdefault((" and ".join(map(str, counts)), limits[name, counts[0]]), []).append(name)
    for (counted, limit), names in types.items():
        yield f"runtime on {counted} instances of {', '.join(names)}: taken to be no shorter than on fewer, {limit}"


def _is_faster(source: tuple[int, float], fewer: tuple[int, float], hours: Floats) -> bool:
    """Return whether tasks of some size take fewer hours by one source, with its factor, than by another."""
    (row, factor), (other_row, other_factor) = source, fewer
    if row == other_row:
        return factor < other_factor * FASTER
    return bool((hours[row] * factor < hours[other_row] * (other_factor * FASTER)).any())
