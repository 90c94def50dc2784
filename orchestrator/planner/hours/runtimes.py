"""How long tasks take, for each dataset, each combination of size parameters and each instance type.

Of each type, the first that is there: what the sweep file says, what earlier runs have taught, what its GPUs promise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.errors import InfeasibleError
from orchestrator.planner.hours.learned import BYTES, INSTANCES, fixed, learn, size_columns
from orchestrator.planner.hours.learned_notes import learned_notes
from orchestrator.planner.hours.speed import EFFICIENCY, speed, speedup
from orchestrator.spec.sweep import ANY_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt
    import pandas as pd

    from orchestrator.planner.hours.learned import Learned
    from orchestrator.spec.parameters import Expression
    from orchestrator.spec.sweep import Sweep

    Hours = npt.NDArray[np.float64]

MAX_SIZES = 1_000_000

HONEST = 1.25
"""Times its expected hours is what an honest task may take within its envelope; more where tasks have taken more."""
HONEST_GUESS = 2.0
"""The same where the hours are a guess."""

GB_PER_HOUR = 40.0
"""That one V100 trains on, all passes included. A prior for when nobody has said or seen anything."""
LEAST_HOURS = 0.1
GB = 10**9


@dataclass(frozen=True)
class Runtimes:
    """Hours of one task on all its instances."""

    hours: Hours
    """A row for each way to know them, a column for each size in the order of their numbers."""
    data: Hours
    """The same rows, a column for each dataset: how many times as long its tasks take."""
    pace: dict[str, tuple[int, float]]
    """Instance type → its row, and how many times that it takes. A type that nothing is known of is missing."""
    honest: dict[str, float]
    """Instance type → times its expected hours that an honest task may take."""
    basis: tuple[str, ...]
    """Where the hours come from, in words."""


@dataclass(frozen=True)
class _Source:
    """One way to know hours: a row of Runtimes."""

    hours: Hours
    data: Hours
    own: dict[str, float]
    """Types that it is about → how many times these hours they take."""
    unit: float | None
    """Times that a type of speed 1 takes; None where that cannot be told."""
    honest: dict[str, float]
    """Of its own types."""
    wary: float = HONEST
    """Of any other."""

    def beside(self, instance_type: str) -> float | None:
        """Times that it takes, by its speed."""
        own = speed(instance_type)
        return self.unit / own if self.unit and own else None


def expected_runtimes(sweep: Sweep, datasets: Sequence[int], history: pd.DataFrame) -> Runtimes:
    """`datasets` are their bytes; `history` is a Market's."""
    points = sweep.points
    if points.sizes > MAX_SIZES:
        raise InfeasibleError(
            f"the runtime depends on {points.sizes:,} combinations of {', '.join(points.size_parameters)}",
            hint=f"at most {MAX_SIZES:,}: let `runtime` depend on fewer parameters, or give them fewer values",
        )
    past = None if _all_said(sweep) else learn(sweep, datasets, history)
    scale = _scale(sweep, past)
    sources = [_said(sweep, name, len(datasets), scale) for name in sweep.runtimes]
    if past is not None:
        sources.append(_learned(sweep, past, datasets))
    elif not sources:
        sources.append(_guessed(sweep, datasets, scale))
    pace, honest, notes = _paces(sweep, sources)
    return Runtimes(
        np.stack([source.hours for source in sources]),
        np.stack([source.data for source in sources]),
        pace,
        honest,
        (*_basis(sweep, scale, past, pace), *notes, *_envelopes(sweep, honest)),
    )


def _paces(
    sweep: Sweep, sources: Sequence[_Source]
) -> tuple[dict[str, tuple[int, float]], dict[str, float], list[str]]:
    """Of each type, by the first source that is about it; or else by its speed, beside the first that has one."""
    pace: dict[str, tuple[int, float]] = {}
    honest: dict[str, float] = {}
    notes = []
    for name in sweep.where.instance_types:
        for row, source in enumerate(sources):
            if name in source.own:
                pace[name], honest[name] = (row, source.own[name]), source.honest[name]
                break
        else:
            likely = ((row, source.beside(name)) for row, source in enumerate(sources))
            row, factor = next(((row, factor) for row, factor in likely if factor), (0, None))
            if factor is None:
                notes.append(f"left out: no runtime for {name}, and no prior for its speed")
                continue
            pace[name], honest[name] = (row, factor), sources[row].wary
            reference = next((other for other in sources[row].own if speed(other)), None)
            if reference:
                times = factor / sources[row].own[reference]
                notes.append(f"runtime of {name}: {times:.2g} times that of {reference}, by the speed of its GPUs")
    return pace, honest, notes


def _all_said(sweep: Sweep) -> bool:
    """That the file leaves nothing to be learned."""
    scaled = sweep.train.instances == 1 or sweep.train.efficiency is not None
    return scaled and (ANY_TYPE in sweep.runtimes or set(sweep.where.instance_types) <= set(sweep.runtimes))


def _scale(sweep: Sweep, past: Learned | None) -> float:
    """How many times as fast as one instance several are."""
    instances = sweep.train.instances
    if sweep.train.efficiency is None and past is not None and past.doubling is not None:
        return speedup(instances, past.doubling / 2)
    return speedup(instances, sweep.train.efficiency or EFFICIENCY)


def _said(sweep: Sweep, name: str, datasets: int, scale: float) -> _Source:
    """By the sweep file: the same whatever the data."""
    types = sweep.where.instance_types if name == ANY_TYPE else [name]
    hours = _on_one_instance(sweep, sweep.runtimes[name]) / scale
    return _Source(hours, np.ones(datasets), dict.fromkeys(types, 1.0), speed(name), dict.fromkeys(types, HONEST))


def _learned(sweep: Sweep, past: Learned, datasets: Sequence[int]) -> _Source:
    hours = np.full(sweep.points.sizes, past.hours)
    for name, values in size_columns(sweep).items():
        hours *= past.factor(name, values)
    for name, value in {INSTANCES: float(sweep.train.instances), **fixed(sweep)}.items():
        hours *= past.factor(name, np.array([value]))
    honest = {name: max(HONEST, seen.high) for name, seen in past.types.items()}
    known = any(speed(name) for name in past.types)
    return _Source(
        hours,
        past.factor(BYTES, np.array(datasets, dtype=np.float64)),
        {name: seen.pace for name, seen in past.types.items()},
        1.0 if known else None,
        honest,
        wary=max(honest.values()),
    )


def _guessed(sweep: Sweep, datasets: Sequence[int], scale: float) -> _Source:
    """In proportion to the data, and to size parameters about their middle."""
    sizes = np.ones(sweep.points.sizes)
    for values in size_columns(sweep).values():
        if values.min() > 0:
            sizes *= values / np.exp(np.log(values).mean())
    data = np.maximum(np.array(datasets, dtype=np.float64) / GB / GB_PER_HOUR, LEAST_HOURS)
    return _Source(sizes / scale, data, {}, 1.0, {}, wary=HONEST_GUESS)


def _basis(sweep: Sweep, scale: float, past: Learned | None, pace: dict[str, tuple[int, float]]) -> Iterator[str]:
    """What each source says, if anything rests on it."""
    instances = sweep.train.instances
    scaled = f"; {instances} instances taken to be {scale:.2g} times as fast" if instances > 1 else ""
    for name, expression in sweep.runtimes.items():
        whose = f" of {name}, as the sweep file says" if name else ", as the sweep file says, whatever its type"
        yield f"runtime: {expression.text} hours on one instance{whose}{scaled}"
    rest = [name for name, (row, _) in pace.items() if row == len(sweep.runtimes)]
    if rest and past:
        yield from learned_notes(sweep, past, rest)
    elif rest:
        yield (
            f"runtime of {', '.join(rest)}: A GUESS, as nobody has said or seen it: by the speed of its GPUs "
            f"and the bytes of its data, {GB_PER_HOUR:g} GB an hour on one V100{scaled}; "
            "set `runtime`, or plan again after a first run"
        )


def _envelopes(sweep: Sweep, honest: dict[str, float]) -> Iterator[str]:
    wary = [name for name, factor in honest.items() if factor > HONEST]
    if sweep.plan.budget is not None and wary:
        said = ", ".join(f"{honest[name]:.2f} on {name}" for name in wary)
        yield f"envelopes hold more than {HONEST:g} times the expected hours: {said}"


def _on_one_instance(sweep: Sweep, expression: Expression) -> Hours:
    found = np.broadcast_to(expression(sweep.train.hyperparameters | size_columns(sweep)), sweep.points.sizes)
    wrong = np.flatnonzero(~(np.isfinite(found) & (found > 0)))
    if wrong.size:
        raise InfeasibleError(
            f"the runtime `{expression.text}` is {found[wrong[0]]:g} hours{named_size(sweep, int(wrong[0]))}",
            hint="it must be above 0 for every point",
        )
    return np.array(found)


def named_size(sweep: Sweep, size: int) -> str:
    """` for epochs=10, layers=2`, or nothing when all tasks are of one size."""
    said = ", ".join(f"{name}={value}" for name, value in sweep.points.size(size).items())
    return f" for {said}" if said else ""
