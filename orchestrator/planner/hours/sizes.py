"""The sizes of a sweep: each combination of values of the parameters that the runtime depends on, by its number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Floats
    from orchestrator.spec.sweep import Sweep


def size_columns(sweep: Sweep) -> dict[str, Floats]:
    """Return the values of each size parameter, one for each size in the order of their numbers."""
    points = sweep.points
    columns = {}
    for name in points.size_parameters:
        values, each = points.size_values(name)
        columns[name] = np.resize(np.repeat(np.array(values, dtype=np.float64), each), points.sizes)
    return columns


def fixed_numbers(sweep: Sweep) -> dict[str, float]:
    """Return the hyperparameters that are numbers, and hence equal for every task of this sweep."""
    given = sweep.train.hyperparameters.items()
    return {name: float(value) for name, value in given if isinstance(value, int | float)}


def named_size(sweep: Sweep, size: int) -> str:
    """Return ` for epochs=10, layers=2`, to go on with in a sentence; nothing when all tasks are of one size."""
    values = ", ".join(f"{name}={value}" for name, value in sweep.points.size(size).items())
    return f" for {values}" if values else ""
