"""Hours of tasks, for each dataset, each combination of size parameters and each instance type.

A type's hours come from the first source that knows it: the sweep file, then what finished tasks say, then its speed
beside a type that one of these knows. Where there is no source at all, they are a guess.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.errors import InfeasibleError
from orchestrator.planner.hours.file_hours import hours_of_file
from orchestrator.planner.hours.learn import learn
from orchestrator.planner.hours.learned import BYTES, INSTANCES
from orchestrator.planner.hours.learned_notes import learned_notes
from orchestrator.planner.hours.pinned_runtimes import with_pinned
from orchestrator.planner.hours.scaling import find_scaling, most_learned
from orchestrator.planner.hours.sizes import fixed_numbers, size_columns
from orchestrator.planner.hours.speed import speed
from orchestrator.planner.hours.useful_counts import useless_counts, useless_notes
from orchestrator.spec.sweep import ANY_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from orchestrator.planner.hours.learned import LearnedHours
    from orchestrator.planner.hours.pinned_runtimes import PinnedRuntime
    from orchestrator.planner.hours.scaling import Scaling
    from orchestrator.planner.model.arrays import Floats
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
    pace: dict[tuple[str, int], tuple[int, float]]
    """The source (a row) of each instance type on each number of instances, and a factor on its hours. Types without a
    source are missing, and so are numbers of instances that are no faster than fewer."""
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
    counts: dict[int, float]
    """The numbers of instances that it speaks of, each with a factor on its hours."""
    factor_at_speed_1: float | None
    """The factor of a type of speed 1; None where that is not known."""
    honest_factor: dict[str, float]
    """Honest factor of each type that it knows."""
    other_honest_factor: float = HONEST_FACTOR
    """Honest factor of any other type."""
    limit: str = ""
    """Why more instances than it knows of are not faster, to go on with in a note."""

    def factor_by_speed(self, instance_type: str) -> float | None:
        """Return the factor of a type that it does not know, by the type's speed; None where that is not known."""
        own = speed(instance_type)
        return self.factor_at_speed_1 / own if self.factor_at_speed_1 and own else None


def expected_runtimes(
    sweep: Sweep,
    datasets: Sequence[int],
    history: pd.DataFrame,
    learned: LearnedHours | None = None,
    pins: Mapping[str, PinnedRuntime] = MappingProxyType({}),
) -> Runtimes:
    """Return the hours of the sweep's tasks. `datasets` are their bytes; `history` is a Market's.

    `learned` counts instead of the history and of the `pins` where it is given.
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
        learned = with_pinned(sweep, datasets, learn(sweep, datasets, history), pins)
    scaling = find_scaling(sweep.train, learned)
    sources = [source for name in sweep.runtimes for source in _file_sources(sweep, name, len(datasets), scaling)]
    from_the_file = len(sources)
    if learned is not None:
        sources.append(_learned_source(sweep, learned, datasets))
    elif not sources:
        sources.append(_guess(sweep, datasets, scaling))
    pace, honest_factor, notes = _by_type(sweep, sources)
    hours = np.stack([source.hours for source in sources])
    useless = useless_counts(pace, hours)
    after_the_file = dict.fromkeys(name for (name, _), (row, _) in pace.items() if row == from_the_file)
    return Runtimes(
        hours,
        np.stack([source.data_factor for source in sources]),
        {key: source for key, source in pace.items() if key[1] not in useless.get(key[0], ())},
        honest_factor,
        (
            *_source_notes(sweep, scaling, learned, list(after_the_file), pins),
            *notes,
            *useless_notes(useless, {key: sources[row].limit for key, (row, _) in pace.items()}),
            *_envelope_notes(sweep, honest_factor),
        ),
        learned,
    )


def _by_type(
    sweep: Sweep, sources: Sequence[_Source]
) -> tuple[dict[tuple[str, int], tuple[int, float]], dict[str, float], list[str]]:
    """Return the pace and the honest factor of each type, and notes on those that no source knows."""
    pace: dict[tuple[str, int], tuple[int, float]] = {}
    honest_factor: dict[str, float] = {}
    notes: list[str] = []
    for name in sweep.where.instance_types:
        for count in sweep.train.instance_counts:
            speaking = [(row, source) for row, source in enumerate(sources) if count in source.counts]
            row = next((row for row, source in speaking if name in source.types), None)
            if row is not None:
                pace[name, count] = row, sources[row].types[name] * sources[row].counts[count]
                honest_factor[name] = sources[row].honest_factor[name]
                continue
            likely = ((row, source.factor_by_speed(name)) for row, source in speaking)
            row, factor = next(((row, factor) for row, factor in likely if factor), (0, None))
            if factor is not None:
                pace[name, count] = row, factor * sources[row].counts[count]
                honest_factor[name] = sources[row].other_honest_factor
            if count == sweep.train.instance_counts[0]:
                notes += _notes_on_unknown(name, sources[row], factor)
    return pace, honest_factor, notes


def _notes_on_unknown(name: str, source: _Source, factor: float | None) -> Iterator[str]:
    """Yield what is said of a type that no source knows: its factor on the hours of one of them, by its speed."""
    reference = next((other for other in source.types if speed(other)), None)
    if factor is None:
        yield f"left out: no runtime for {name}, and no prior for its speed"
    elif reference:
        times = factor / source.types[reference]
        yield f"runtime of {name}: {times:.2g} times that of {reference}, by the speed of its GPUs"


def _file_says_all(sweep: Sweep) -> bool:
    """Return True if the sweep file leaves nothing to be learned."""
    counted = bool(sweep.runtimes) and all(sweep.counts_instances(runtime) for runtime in sweep.runtimes.values())
    knows_instances = sweep.train.instance_counts == (1,) or sweep.train.efficiency is not None or counted
    knows_types = ANY_TYPE in sweep.runtimes or set(sweep.where.instance_types) <= set(sweep.runtimes)
    return knows_instances and knows_types


def _file_sources(sweep: Sweep, name: str, datasets: int, scaling: Scaling) -> Iterator[_Source]:
    """Yield what the sweep file says of one type, or of any. It says the same whatever the data.

    A runtime that counts instances itself is a source for each number of them: tasks of different sizes may scale
    differently.
    """
    runtime, counts = sweep.runtimes[name], sweep.train.instance_counts
    types = sweep.where.instance_types if name == ANY_TYPE else [name]

    def source(hours: Floats, factors: dict[int, float], limit: str) -> _Source:
        return _Source(
            hours=hours,
            data_factor=np.ones(datasets),
            types=dict.fromkeys(types, 1.0),
            counts=factors,
            factor_at_speed_1=speed(name),
            honest_factor=dict.fromkeys(types, HONEST_FACTOR),
            limit=limit,
        )

    if sweep.counts_instances(runtime):
        for count in counts:
            yield source(hours_of_file(sweep, runtime, count), {count: 1.0}, "as the sweep file says")
    else:
        hours = hours_of_file(sweep, runtime, 1) / scaling.speedup(counts[0])
        yield source(hours, _factors(counts, scaling), scaling.limit)


def _factors(counts: Sequence[int], scaling: Scaling) -> dict[int, float]:
    """Return for each number of instances a factor on the hours on the fewest of them."""
    return {count: scaling.speedup(counts[0]) / scaling.speedup(count) for count in counts}


def _learned_source(sweep: Sweep, learned: LearnedHours, datasets: Sequence[int]) -> _Source:
    counts = sweep.train.instance_counts
    most, limit = most_learned(sweep.train, learned)
    on_counts = learned.factor(INSTANCES, np.minimum(np.array(counts, dtype=np.float64), most))
    hours = np.full(sweep.points.sizes, learned.base_hours)
    for name, values in size_columns(sweep).items():
        hours *= learned.factor(name, values)
    hours *= on_counts[0]
    for name, value in fixed_numbers(sweep).items():
        hours *= learned.factor(name, np.array([value]))
    honest_factor = {name: max(HONEST_FACTOR, its.high) for name, its in learned.types.items()}
    return _Source(
        hours=hours,
        data_factor=learned.factor(BYTES, np.array(datasets, dtype=np.float64)),
        types={name: its.pace for name, its in learned.types.items()},
        counts=dict(zip(counts, (on_counts / on_counts[0]).tolist(), strict=True)),
        factor_at_speed_1=1.0 if any(speed(name) for name in learned.types) else None,
        honest_factor=honest_factor,
        other_honest_factor=max(honest_factor.values()),
        limit=limit,
    )


def _guess(sweep: Sweep, datasets: Sequence[int], scaling: Scaling) -> _Source:
    """Return hours in proportion to the data, and to each size parameter about its middle."""
    sizes = np.ones(sweep.points.sizes)
    for values in size_columns(sweep).values():
        if values.min() > 0:
            sizes *= values / np.exp(np.log(values).mean())
    counts = sweep.train.instance_counts
    return _Source(
        hours=sizes / scaling.speedup(counts[0]),
        data_factor=np.maximum(np.array(datasets, dtype=np.float64) / GB / V100_GB_PER_HOUR, LEAST_HOURS),
        types={},
        counts=_factors(counts, scaling),
        factor_at_speed_1=1.0,
        honest_factor={},
        other_honest_factor=HONEST_FACTOR_OF_A_GUESS,
        limit=scaling.limit,
    )


def _source_notes(
    sweep: Sweep,
    scaling: Scaling,
    learned: LearnedHours | None,
    after_the_file: Sequence[str],
    pins: Mapping[str, PinnedRuntime],
) -> Iterator[str]:
    """Yield what each source says. What was learned or guessed is left out if the hours of no type rest on it."""
    scaled = scaling.describe(sweep.train.instance_counts)
    for name, runtime in sweep.runtimes.items():
        whose = f" of {name}, as the sweep file says" if name else ", as the sweep file says, whatever its type"
        if sweep.counts_instances(runtime):
            yield f"runtime: {runtime.text} hours{whose}"
        else:
            yield f"runtime: {runtime.text} hours on one instance{whose}{scaled}"
    if after_the_file and learned:
        yield from learned_notes(sweep, learned, after_the_file, pins)
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
