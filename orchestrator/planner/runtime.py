"""How long tasks take, for each combination of size parameters and each instance type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.errors import InfeasibleError
from orchestrator.planner.speed import EFFICIENCY, speed, speedup
from orchestrator.spec.sweep import ANY_TYPE

if TYPE_CHECKING:
    import numpy.typing as npt

    from orchestrator.spec.parameters import Expression
    from orchestrator.spec.sweep import Sweep

    Hours = npt.NDArray[np.float64]

MAX_SIZES = 1_000_000


@dataclass(frozen=True)
class Runtimes:
    """Hours of one task on all its instances."""

    hours: Hours
    """A row for each runtime that the sweep file gives, a column for each size in the order of their numbers."""
    pace: dict[str, tuple[int, float]]
    """Instance type → its row, and how many times that it takes. A type that nothing is known of is missing."""
    basis: tuple[str, ...]
    """Where the hours come from, in words."""


def runtimes(sweep: Sweep) -> Runtimes:
    points = sweep.points
    if points.sizes > MAX_SIZES:
        raise InfeasibleError(
            f"the runtime depends on {points.sizes:,} combinations of {', '.join(points.size_parameters)}",
            hint=f"at most {MAX_SIZES:,}: let `runtime` depend on fewer parameters, or give them fewer values",
        )
    given = sweep.runtimes
    alone = np.stack([_on_one_instance(sweep, expression) for expression in given.values()])
    scale = speedup(sweep.train.instances, sweep.train.efficiency or EFFICIENCY)
    pace, guessed = _pace(sweep.where.instance_types, list(given))
    return Runtimes(alone / scale, pace, (*_said(sweep, scale), *guessed))


def _pace(types: list[str], given: list[str]) -> tuple[dict[str, tuple[int, float]], list[str]]:
    """By the file's own word, or else by the speed of its GPUs beside the first type given that has such a prior."""
    if ANY_TYPE in given:
        return dict.fromkeys(types, (0, 1.0)), []
    known: dict[str, tuple[int, float]] = {name: (row, 1.0) for row, name in enumerate(given)}
    reference = next((name for name in given if speed(name)), None)
    notes = []
    for name in types:
        if name in known:
            continue
        own, beside = speed(name), speed(reference) if reference else None
        if reference and own and beside:
            known[name] = (known[reference][0], beside / own)
            notes.append(f"runtime of {name}: {beside / own:.2g} times that of {reference}, by the speed of its GPUs")
        else:
            notes.append(f"left out: no runtime for {name}, and no prior for its speed")
    return known, notes


def _said(sweep: Sweep, scale: float) -> list[str]:
    instances = sweep.train.instances
    scaled = f"; {instances} instances taken to be {scale:.2g} times as fast" if instances > 1 else ""
    return [
        f"runtime: {expression.text} hours on one instance"
        + (f" of {name}, as the sweep file says" if name else ", as the sweep file says, whatever its type")
        + scaled
        for name, expression in sweep.runtimes.items()
    ]


def _on_one_instance(sweep: Sweep, expression: Expression) -> Hours:
    points = sweep.points
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
