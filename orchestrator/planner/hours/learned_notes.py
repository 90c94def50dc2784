"""What was learned from finished tasks, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.planner.hours.learned import INSTANCES, size_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orchestrator.planner.hours.learned import Learned
    from orchestrator.spec.sweep import Sweep

WIDE = 2.0
"""Tasks of one size whose hours differ by such a factor probably are not of one size."""


def learned_notes(sweep: Sweep, past: Learned, types: Sequence[str]) -> Iterator[str]:
    """Of these instance types, as far as they were seen."""
    seen = {name: past.types[name] for name in types if name in past.types}
    for name, its in seen.items():
        yield (
            f"runtime of {name}: learned from {its.tasks:,} finished tasks of {sweep.name}; "
            f"8 in 10 took {its.low:.2f} to {its.high:.2f} times as long as is expected here"
        )
    powers = [one for one in past.features.values() if one.varied and one.logarithmic and one.name != INSTANCES]
    if powers:
        yield f"as learned, hours grow with {', '.join(f'{one.name}^{one.slope:.2f}' for one in powers)}"
    if past.doubling is not None:
        yield f"as learned, twice the instances are {past.doubling:.2f} times as fast"
    yield from _new_sizes(sweep, past)
    wide = [name for name, its in seen.items() if its.high / its.low > WIDE]
    others = [name for name in sweep.points.parameters if name not in sweep.points.size_parameters]
    if wide and others:
        yield f"hours on {', '.join(wide)} vary: if they depend on {' or '.join(others)}, name it under `sizes`"


def _new_sizes(sweep: Sweep, past: Learned) -> Iterator[str]:
    """That no task has had yet."""
    for name, values in size_columns(sweep).items():
        its, least, most = past.features[name], values.min(), values.max()
        if least < its.lowest or most > its.highest:
            seen = f"{its.lowest:g} to {its.highest:g}" if its.varied else f"{its.lowest:g}"
            yield f"{name} is {least:g} to {most:g} here, and was only {seen} so far: what lies beyond is an estimate"
