"""The notes of a plan that say what was learned from finished tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.planner.hours.learned import INSTANCES
from orchestrator.planner.hours.sizes import size_columns
from orchestrator.spec.duration import HOUR, spell

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from orchestrator.planner.hours.learned import LearnedHours
    from orchestrator.planner.hours.pinned_runtimes import PinnedRuntime
    from orchestrator.spec.sweep import Sweep

WIDE = 2.0
"""Tasks of one size whose hours differ by such a factor probably are not of one size."""


def learned_notes(
    sweep: Sweep, learned: LearnedHours, types: Sequence[str], pins: Mapping[str, PinnedRuntime]
) -> Iterator[str]:
    """Yield what was learned of these instance types, as far as finished tasks ran on them, and what was pinned."""
    for name in types:
        if name in pins:
            hours, one = spell(pins[name].hours * HOUR), pins[name]
            yield f"runtime of {name}: pinned to {hours} for a task of a middling size, by {one.by} on {one.at}"
    if not any(its.tasks for its in learned.types.values()):
        return
    known = {name: learned.types[name] for name in types if name in learned.types and name not in pins}
    for name, its in known.items():
        yield (
            f"runtime of {name}: learned from {its.tasks:,} finished tasks of {sweep.name}; "
            f"8 in 10 took {its.low:.2f} to {its.high:.2f} times as long as is expected here"
        )
    powers = [one for one in learned.features.values() if one.varied and one.logarithmic and one.name != INSTANCES]
    if powers:
        yield f"as learned, hours grow with {', '.join(f'{one.name}^{one.slope:.2f}' for one in powers)}"
    if learned.doubling is not None:
        yield f"as learned, twice the instances are {learned.doubling:.2f} times as fast"
    yield from _new_sizes(sweep, learned)
    wide = [name for name, its in known.items() if its.high / its.low > WIDE]
    others = [name for name in sweep.points.parameters if name not in sweep.points.size_parameters]
    if wide and others:
        yield f"hours on {', '.join(wide)} vary: if they depend on {' or '.join(others)}, name it under `sizes`"


def _new_sizes(sweep: Sweep, learned: LearnedHours) -> Iterator[str]:
    """Yield a note for each size parameter with values beyond those that finished tasks had."""
    for name, values in size_columns(sweep).items():
        feature, least, most = learned.features[name], values.min(), values.max()
        if least < feature.lowest or most > feature.highest:
            seen = f"{feature.lowest:g} to {feature.highest:g}" if feature.varied else f"{feature.lowest:g}"
            yield f"{name} is {least:g} to {most:g} here, and was only {seen} so far: what lies beyond is an estimate"
