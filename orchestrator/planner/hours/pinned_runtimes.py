"""Runtimes that a person has pinned: they take the place of what was learned of their instance types.

A pinned runtime is that of a task in the middle of what was seen. All others are in proportion, as learned. Where
nothing was learned, they are in proportion to the data and to each size parameter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log2
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.hours.learned import BYTES, INSTANCES, Feature, LearnedHours, LearnedType
from orchestrator.planner.hours.sizes import size_columns
from orchestrator.planner.hours.speed import EFFICIENCY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from orchestrator.planner.model.arrays import Floats
    from orchestrator.spec.sweep import Sweep


@dataclass(frozen=True)
class PinnedRuntime:
    """The hours that somebody has set for a task in the middle, on one instance type."""

    hours: float
    by: str
    at: str


def pinned_runtimes(pins: pd.DataFrame) -> dict[str, PinnedRuntime]:
    """Return the pinned runtime of each instance type, from a Market's pins."""
    rows = pins[pins["what"] == "runtime"]
    columns = rows[["place", "value", "by", "at"]].itertuples(index=False, name=None)
    return {place: PinnedRuntime(float(value), by, at) for place, value, by, at in columns}


def with_pinned(
    sweep: Sweep, datasets: Sequence[int], learned: LearnedHours | None, pins: Mapping[str, PinnedRuntime]
) -> LearnedHours | None:
    """Return what was learned, with the pinned hours of their types instead. `datasets` are the bytes to plan for."""
    if not pins:
        return learned
    base = learned or _in_proportion(sweep, datasets)
    types = {name: _as_pinned(base, name, one.hours) for name, one in pins.items()}
    return replace(base, types=base.types | types)


def _as_pinned(base: LearnedHours, name: str, hours: float) -> LearnedType:
    before = base.types.get(name) or LearnedType(tasks=0, pace=1.0, low=1.0, high=1.0)
    return replace(before, pace=hours / base.base_hours)


def _in_proportion(sweep: Sweep, datasets: Sequence[int]) -> LearnedHours:
    """Return hours of 1 in the middle of what is asked, which nobody has seen any of."""
    count = float(sweep.train.instance_counts[0])
    slope = -1 - log2(sweep.train.efficiency or EFFICIENCY)
    features = {INSTANCES: Feature(INSTANCES, count, count, count, logarithmic=True, slope=slope)}
    given: dict[str, Floats] = {BYTES: np.array(datasets, dtype=np.float64)} | size_columns(sweep)
    for name, values in given.items():
        if values.min() > 0:
            middle = float(np.exp(np.log(values).mean()))
            ends = float(values.min()), float(values.max())
            features[name] = Feature(name, middle, *ends, logarithmic=True, slope=1.0)
    return LearnedHours(1.0, features, {})
