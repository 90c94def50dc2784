"""How long tasks take, learned from those that have finished. The model is derived in docs/planner.md.

    log hours = level + type + Σ slope × feature + noise

Features are the logarithms of the data's bytes, of the size parameters and of the instances. What nobody has seen yet
is taken to be as the priors say; a few tasks overrule them. Outliers count for little.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from math import exp, inf, log, log2, sqrt
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.hours.regression import regression, tamed
from orchestrator.planner.hours.speed import EFFICIENCY, speed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from orchestrator.planner.model.arrays import Booleans, Floats
    from orchestrator.spec.sweep import Sweep

FEWEST = 5
"""Tasks of one instance type from which its runtime is learned; of fewer, nothing is."""
BYTES = "bytes of data"
INSTANCES = "number of instances"
"""Names that no parameter can have."""

_PROPORTIONAL = (1.0, 0.5)
_INDIFFERENT = (0.0, 0.5)
"""Of a slope: what it is thought to be before any task was seen, and its standard deviation."""
_DOUBLING_SD = 0.2
_LINEAR = (-1.0, 1e-6)
"""Of the instances: more than twice as fast with twice as many is nothing but noise."""
_TYPE_SD = 0.7
"""A type is thought to be as fast as its accelerators say, give or take a factor of two."""
_UNKNOWN_TYPE_SD = 3.0
_MIDDLE = (0.1, 0.9)
"""Quantiles that a spread is told by."""


@dataclass(frozen=True)
class Feature:
    """Something that the hours depend on."""

    name: str
    centre: float
    lowest: float
    highest: float
    """That was ever seen."""
    logarithmic: bool
    """Hours are a power of it; else, as some of its values are not above 0, they grow by factors over its range."""
    slope: float = 0.0

    @property
    def varied(self) -> bool:
        return self.lowest < self.highest

    def column(self, values: Floats) -> Floats:
        if self.logarithmic:
            return np.log(values / self.centre)
        span = self.highest - self.lowest
        near = np.clip(values, self.lowest - span, self.highest + span)  # factors grow beyond all bounds
        return (near - self.centre) / (span or 1.0)

    def factor(self, values: Floats) -> Floats:
        """Times the hours at the centre."""
        return np.exp(self.slope * self.column(values))


@dataclass(frozen=True)
class Seen:
    """An instance type that enough tasks ran on."""

    tasks: int
    pace: float
    """Hours there, for an hour on a type of speed 1."""
    low: float
    high: float
    """Eight in ten tasks took this many times the expected hours."""


@dataclass(frozen=True)
class Learned:
    hours: float
    """Expected on one type of speed 1, with every feature at its centre."""
    features: dict[str, Feature]
    types: dict[str, Seen]

    def pace(self, instance_type: str) -> float | None:
        """Of a type that was not seen: by its speed beside those that were, if it has such a prior."""
        if instance_type in self.types:
            return self.types[instance_type].pace
        own = speed(instance_type)
        return 1 / own if own and any(speed(name) for name in self.types) else None

    def factor(self, name: str, values: Floats) -> Floats:
        """Times the hours, at these values of a feature; 1 of what is none."""
        return self.features[name].factor(values) if name in self.features else np.ones(len(values))

    @property
    def doubling(self) -> float | None:
        """How many times as fast twice the instances are; None if all tasks had equally many."""
        feature = self.features[INSTANCES]
        return 2**-feature.slope if feature.varied else None


def learn(sweep: Sweep, datasets: Sequence[int], history: pd.DataFrame) -> Learned | None:
    """From a Market's history; `datasets` are the bytes of those to plan for. None if it has too few tasks."""
    if len(history) < FEWEST:
        return None
    columns = _columns(sweep, history)
    hours, types = history["hours"].to_numpy(dtype=np.float64), history["instance_type"].to_numpy(dtype=object)
    use = _enough(
        types, (hours > 0) & np.logical_and.reduce([np.isfinite(each) for each in (hours, *columns.values())])
    )
    if not use.any():
        return None
    hours, types, columns = hours[use], types[use], {name: values[use] for name, values in columns.items()}
    wanted = _wanted(sweep, datasets)
    if min(columns[BYTES].min(), wanted[BYTES].min()) <= 0:
        del columns[BYTES]  # of a classic JOBARRAY nobody knows them
    features = [_feature(name, values, wanted[name]) for name, values in columns.items()]
    return _fitted(sweep, hours, types, {feature: columns[feature.name] for feature in features})


def size_columns(sweep: Sweep) -> dict[str, Floats]:
    """Of each size parameter, its value at each size."""
    points = sweep.points
    columns = {}
    for name in points.size_parameters:
        values, each = points.size_values(name)
        columns[name] = np.resize(np.repeat(np.array(values, dtype=np.float64), each), points.sizes)
    return columns


def fixed(sweep: Sweep) -> dict[str, float]:
    """Hyperparameters that are numbers, and the same for every task of this sweep."""
    return {name: float(value) for name, value in sweep.train.hyperparameters.items() if not isinstance(value, str)}


def _wanted(sweep: Sweep, datasets: Sequence[int]) -> dict[str, Floats]:
    """The values that hours are asked for at."""
    given = {BYTES: np.array(datasets, dtype=np.float64), INSTANCES: np.array([float(sweep.train.instances)])}
    return given | {name: np.array([value]) for name, value in fixed(sweep).items()} | size_columns(sweep)


def _columns(sweep: Sweep, history: pd.DataFrame) -> dict[str, Floats]:
    """What hours may depend on, of each task that was seen: nan where it is not known.

    A parameter that this sweep fixes counts if it was not always the same.
    """
    import pandas as pd

    codes, texts = pd.factorize(history["sizes"])
    points = json.loads(f"[{','.join(texts)}]")
    rows = np.unique(codes)

    def column(name: str) -> Floats:
        return np.array([float(point.get(name, np.nan)) for point in points])[codes]

    sizes = {name: column(name) for name in sweep.points.size_parameters}
    settled = {name: column(name) for name in fixed(sweep) if len(rows) > 1 and name not in sizes}
    given = {
        BYTES: history["bytes"].to_numpy(dtype=np.float64),
        INSTANCES: history["instances"].to_numpy(dtype=np.float64),
    }
    return given | sizes | {name: values for name, values in settled.items() if len(np.unique(values)) > 1}


def _enough(types: np.ndarray, known: Booleans) -> Booleans:
    """Of the tasks about which all is known: those on types with at least FEWEST."""
    use = np.zeros(len(types), dtype=bool)
    for name in sorted(set(types[known])):
        rows = known & (types == name)
        use |= rows if rows.sum() >= FEWEST else False
    return use


def _feature(name: str, values: Floats, wanted: Floats) -> Feature:
    logarithmic = bool(min(values.min(), wanted.min()) > 0)
    return Feature(name, float(np.median(values)), float(values.min()), float(values.max()), logarithmic)


def _fitted(sweep: Sweep, hours: Floats, types: np.ndarray, columns: Mapping[Feature, Floats]) -> Learned:
    names = sorted(set(types))
    speeds = {name: speed(name) for name in names}
    member = np.stack([types == name for name in names], axis=1)
    x = np.column_stack([np.ones(len(hours)), member, *(one.column(values) for one, values in columns.items())])
    y = np.log(hours) + member @ np.array([log(known or 1.0) for known in speeds.values()])
    level = (0.0, inf)
    own = [(0.0, _TYPE_SD if known else _UNKNOWN_TYPE_SD) for known in speeds.values()]
    slopes = [_prior(sweep, feature) for feature in columns]
    fit = regression(x, y, *np.array([level, *own, *slopes]).T)
    instances = [feature.name for feature in columns].index(INSTANCES)
    if fit[1 + len(names) + instances] < _LINEAR[0]:
        slopes[instances] = _LINEAR
        fit = regression(x, y, *np.array([level, *own, *slopes]).T)
    rest = y - x @ fit
    # What is fitted is about the median; what is expected is the mean.
    lift = float(np.exp(tamed(rest)).mean())
    free = len(hours) - 1 - len(names) - sum(feature.varied for feature in columns)
    ratio = np.exp(rest * sqrt(len(hours) / max(free, 1))) / lift  # tasks lie the closer to a model the more it fits
    effects, slopes_found = fit[1 : 1 + len(names)].tolist(), fit[1 + len(names) :].tolist()
    return Learned(
        hours=exp(fit[0]) * lift,
        features={one.name: replace(one, slope=slope) for one, slope in zip(columns, slopes_found, strict=True)},
        types={
            name: Seen(int(rows.sum()), exp(effect) / (speeds[name] or 1.0), *_spread(ratio[rows]))
            for name, effect, rows in zip(names, effects, member.T, strict=True)
        },
    )


def _prior(sweep: Sweep, feature: Feature) -> tuple[float, float]:
    """Mean and standard deviation of a slope."""
    if feature.name == INSTANCES:
        return -1 - log2(sweep.train.efficiency or EFFICIENCY), _DOUBLING_SD
    sized = feature.name == BYTES or feature.name in sweep.points.size_parameters
    return _PROPORTIONAL if sized and feature.logarithmic else _INDIFFERENT


def _spread(ratio: Floats) -> tuple[float, float]:
    low, high = np.quantile(ratio, _MIDDLE)
    return float(low), float(high)
