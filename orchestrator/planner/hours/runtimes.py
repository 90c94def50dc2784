"""Hours of tasks, for each dataset, each combination of size parameters and each instance type.

A type's hours come from the first source that knows it: the sweep file, then what finished tasks say, then its speed
beside a type that one of these knows. Where there is no source at all, they are a guess.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.errors import InfeasibleError
from orchestrator.planner.hours.learn import learn
from orchestrator.planner.hours.learned import BYTES, INSTANCES
from orchestrator.planner.hours.learned_notes import learned_notes
from orchestrator.planner.hours.sizes import fixed_numbers, named_size, size_columns
from orchestrator.planner.hours.speed import EFFICIENCY, speed, speedup
from orchestrator.spec.sweep import ANY_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from orchestrator.planner.hours.learned import LearnedHours
    from orchestrator.planner.model.arrays import Floats
    from orchestrator.spec.runtime_expression import Expression
    from orchestrator.spec.sweep import Sweep

MAX_SIZES = 1_000_000

HONEST_FACTOR = 1.25
"""Times its expected hours that an honest task may take within its envelope; more where tasks have taken more."""
HONEST_FACTOR_OF_A_GUESS = 2.0
"""Times its expected hours that an honest task may take where these hours are a guess."""

V100_GB_PER_HOUR = 40.0
"""GB that one V100 trains on in an hour, all passes included. A prior, for when nobody has said or seen anything."""
LEAST_HOURS = 0.1
GB = 10**9


@dataclass(frozen=True)
class Runtimes:
    """Hours of one task on all its instances: hours of its size × factor of its dataset × factor of its type."""

    hours: Floats
    """Hours by source and size: a row for each source, a column for each size in the order of their numbers."""
    data_factor: Floats
    """A factor on these hours by source and dataset: how many times as long the dataset's tasks take."""
    pace: dict[str, tuple[int, float]]
    """The source (a row) of each instance type, and a factor on its hours. Types without a source are missing."""
    honest_factor: dict[str, float]
    """Times its expected hours that an honest task may take, for each instance type."""
    notes: tuple[str, ...]
    """Notes for the plan that say where the hours come from."""
    learned: LearnedHours | None
    """What finished tasks say; None if they say nothing, or if the sweep file says it all."""


@dataclass(frozen=True)
class _Source:
    """One source of hours: a row of Runtimes, and the instance types that it knows."""

    hours: Floats
    data_factor: Floats
    types: dict[str, float]
    """The types that it knows, each with a factor on its hours."""
    factor_at_speed_1: float | None
    """The factor of a type of speed 1; None where that is not known."""
    honest_factor: dict[str, float]
    """Honest factor of each type that it knows."""
    other_honest_factor: float = HONEST_FACTOR
    """Honest factor of any other type."""

    def factor_by_speed(self, instance_type: str) -> float | None:
        """Return the factor of a type that it does not know, by the type's speed; None where that is not known."""
        own = speed(instance_type)
        return self.factor_at_speed_1 / own if self.factor_at_speed_1 and own else None


def expected_runtimes(
    sweep: Sweep, datasets: Sequence[int], history: pd.DataFrame, learned: LearnedHours | None = None
) -> Runtimes:
    """Return the hours of the sweep's tasks. `datasets` are their bytes; `history` is a Market's.

    `learned` counts instead of the history where it is given.
    Raise InfeasibleError where the runtime of the sweep file is not above 0, or depends on too much.
    """
    points = sweep.points
    if points.sizes > MAX_SIZES:
        raise InfeasibleError(
            f"the runtime depends on {points.sizes:,} combinations of {', '.join(points.size_parameters)}",
            hint=f"at most {MAX_SIZES:,}: let `runtime` depend on fewer parameters, or give them fewer values",
        )
    if _file_says_all(sweep):
        learned = None
    elif learned is None:
        learned = learn(sweep, datasets, history)
    instances_speedup = _instances_speedup(sweep, learned)
    sources = [_file_source(sweep, name, len(datasets), instances_speedup) for name in sweep.runtimes]
    if learned is not None:
        sources.append(_learned_source(sweep, learned, datasets))
    elif not sources:
        sources.append(_guess(sweep, datasets, instances_speedup))
    pace, honest_factor, notes = _by_type(sweep, sources)
    return Runtimes(
        np.stack([source.hours for source in sources]),
        np.stack([source.data_factor for source in sources]),
        pace,
        honest_factor,
        (
            *_source_notes(sweep, instances_speedup, learned, pace),
            *notes,
            *_envelope_notes(sweep, honest_factor),
        ),
        learned,
    )


def _by_type(
    sweep: Sweep, sources: Sequence[_Source]
) -> tuple[dict[str, tuple[int, float]], dict[str, float], list[str]]:
    """Return the pace and the honest factor of each type, and notes on those that no source knows."""
    pace: dict[str, tuple[int, float]] = {}
    honest_factor: dict[str, float] = {}
    notes = []
    for name in sweep.where.instance_types:
        row = next((row for row, source in enumerate(sources) if name in source.types), None)
        if row is not None:
            pace[name], honest_factor[name] = (row, sources[row].types[name]), sources[row].honest_factor[name]
            continue
        likely = ((row, source.factor_by_speed(name)) for row, source in enumerate(sources))
        row, factor = next(((row, factor) for row, factor in likely if factor), (0, None))
        if factor is None:
            notes.append(f"left out: no runtime for {name}, and no prior for its speed")
            continue
        pace[name], honest_factor[name] = (row, factor), sources[row].other_honest_factor
        reference = next((other for other in sources[row].types if speed(other)), None)
        if reference:
            times = factor / sources[row].types[reference]
            notes.append(f"runtime of {name}: {times:.2g} times that of {reference}, by the speed of its GPUs")
    return pace, honest_factor, notes


def _file_says_all(sweep: Sweep) -> bool:
    """Return True if the sweep file leaves nothing to be learned."""
    knows_instances = sweep.train.instances == 1 or sweep.train.efficiency is not None
    knows_types = ANY_TYPE in sweep.runtimes or set(sweep.where.instance_types) <= set(sweep.runtimes)
    return knows_instances and knows_types


def _instances_speedup(sweep: Sweep, learned: LearnedHours | None) -> float:
    """Return how many times as fast as on one instance a training is on all of its instances."""
    instances = sweep.train.instances
    if sweep.train.efficiency is None and learned is not None and learned.doubling is not None:
        return speedup(instances, learned.doubling / 2)
    return speedup(instances, sweep.train.efficiency or EFFICIENCY)


def _file_source(sweep: Sweep, name: str, datasets: int, instances_speedup: float) -> _Source:
    """Return what the sweep file says of one type, or of any. It says the same whatever the data."""
    types = sweep.where.instance_types if name == ANY_TYPE else [name]
    return _Source(
        hours=_on_one_instance(sweep, sweep.runtimes[name]) / instances_speedup,
        data_factor=np.ones(datasets),
        types=dict.fromkeys(types, 1.0),
        factor_at_speed_1=speed(name),
        honest_factor=dict.fromkeys(types, HONEST_FACTOR),
    )


def _learned_source(sweep: Sweep, learned: LearnedHours, datasets: Sequence[int]) -> _Source:
    hours = np.full(sweep.points.sizes, learned.base_hours)
    for name, values in size_columns(sweep).items():
        hours *= learned.factor(name, values)
    for name, value in {INSTANCES: float(sweep.train.instances), **fixed_numbers(sweep)}.items():
        hours *= learned.factor(name, np.array([value]))
    honest_factor = {name: max(HONEST_FACTOR, its.high) for name, its in learned.types.items()}
    return _Source(
        hours=hours,
        data_factor=learned.factor(BYTES, np.array(datasets, dtype=np.float64)),
        types={name: its.pace for name, its in learned.types.items()},
        factor_at_speed_1=1.0 if any(speed(name) for name in learned.types) else None,
        honest_factor=honest_factor,
        other_honest_factor=max(honest_factor.values()),
    )


def _guess(sweep: Sweep, datasets: Sequence[int], instances_speedup: float) -> _Source:
    """Return hours in proportion to the data, and to each size parameter about its middle."""
    sizes = np.ones(sweep.points.sizes)
    for values in size_columns(sweep).values():
        if values.min() > 0:
            sizes *= values / np.exp(np.log(values).mean())
    return _Source(
        hours=sizes / instances_speedup,
        data_factor=np.maximum(np.array(datasets, dtype=np.float64) / GB / V100_GB_PER_HOUR, LEAST_HOURS),
        types={},
        factor_at_speed_1=1.0,
        honest_factor={},
        other_honest_factor=HONEST_FACTOR_OF_A_GUESS,
    )


def _source_notes(
    sweep: Sweep, instances_speedup: float, learned: LearnedHours | None, pace: dict[str, tuple[int, float]]
) -> Iterator[str]:
    """Yield what each source says. What was learned or guessed is left out if the hours of no type rest on it."""
    instances = sweep.train.instances
    scaled = f"; {instances} instances taken to be {instances_speedup:.2g} times as fast" if instances > 1 else ""
    for name, expression in sweep.runtimes.items():
        whose = f" of {name}, as the sweep file says" if name else ", as the sweep file says, whatever its type"
        yield f"runtime: {expression.text} hours on one instance{whose}{scaled}"
    after_the_file = [name for name, (row, _) in pace.items() if row == len(sweep.runtimes)]
    if after_the_file and learned:
        yield from learned_notes(sweep, learned, after_the_file)
    elif after_the_file:
        yield (
            f"runtime of {', '.join(after_the_file)}: A GUESS, as nobody has said or seen it: by the speed of its GPUs "
            f"and the bytes of its data, {V100_GB_PER_HOUR:g} GB an hour on one V100{scaled}; "
            "set `runtime`, or plan again after a first run"
        )


def _envelope_notes(sweep: Sweep, honest_factor: dict[str, float]) -> Iterator[str]:
    wide = [name for name, factor in honest_factor.items() if factor > HONEST_FACTOR]
    if sweep.plan.budget is not None and wide:
        factors = ", ".join(f"{honest_factor[name]:.2f} on {name}" for name in wide)
        yield f"envelopes hold more than {HONEST_FACTOR:g} times the expected hours: {factors}"


def _on_one_instance(sweep: Sweep, expression: Expression) -> Floats:
    found = np.broadcast_to(expression(sweep.train.hyperparameters | size_columns(sweep)), sweep.points.sizes)
    wrong = np.flatnonzero(~(np.isfinite(found) & (found > 0)))
    if wrong.size:
        raise InfeasibleError(
            f"the runtime `{expression.text}` is {found[wrong[0]]:g} hours{named_size(sweep, int(wrong[0]))}",
            hint="it must be above 0 for every point",
        )
    return np.array(found)
