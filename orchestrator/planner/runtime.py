"""How long tasks take, for each combination of size parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orchestrator.errors import InfeasibleError

if TYPE_CHECKING:
    import numpy.typing as npt

    from orchestrator.spec.sweep import Sweep

    Hours = npt.NDArray[np.float64]

SCALING = 0.9
"""n instances are n**0.9 times as fast as one: each doubling gives 1.87 times the speed."""
MAX_SIZES = 1_000_000


def hours(sweep: Sweep) -> Hours:
    """Of one task on all its instances, for each combination of size parameters, in the order of their numbers."""
    alone = _on_one_instance(sweep)
    return alone / speedup(sweep.train.instances)


def speedup(instances: int) -> float:
    return float(instances**SCALING)


def basis(sweep: Sweep) -> str:
    """Where the hours come from, in words."""
    said = f"runtime: {sweep.runtime} hours on one instance, as the sweep file says, whatever its type"
    instances = sweep.train.instances
    return (
        said if instances == 1 else f"{said}; {instances} instances taken to be {speedup(instances):.2g} times as fast"
    )


def _on_one_instance(sweep: Sweep) -> Hours:
    points = sweep.points
    if points.sizes > MAX_SIZES:
        raise InfeasibleError(
            f"the runtime depends on {points.sizes:,} combinations of {', '.join(points.size_parameters)}",
            hint=f"at most {MAX_SIZES:,}: let `runtime` depend on fewer parameters, or give them fewer values",
        )
    if (expression := sweep.runtime_expression) is None:
        return np.full(points.sizes, float(sweep.runtime))
    columns = {}
    for name in points.size_parameters:
        values, each = points.size_values(name)
        columns[name] = np.resize(np.repeat(np.array(values, dtype=np.float64), each), points.sizes)
    found = np.broadcast_to(expression(sweep.train.hyperparameters | columns), points.sizes)
    wrong = np.flatnonzero(~(np.isfinite(found) & (found > 0)))
    if wrong.size:
        raise InfeasibleError(
            f"the runtime `{expression.text}` is {found[wrong[0]]:g} hours{at(sweep, int(wrong[0]))}",
            hint="it must be above 0 for every point",
        )
    return np.array(found)


def at(sweep: Sweep, size: int) -> str:
    """` for epochs=10, layers=2`, or nothing when all tasks are of one size."""
    said = ", ".join(f"{name}={value}" for name, value in sweep.points.size(size).items())
    return f" for {said}" if said else ""
