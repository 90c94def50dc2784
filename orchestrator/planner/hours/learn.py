"""Learns how long tasks take from those that have finished. docs/planner-model.md derives the model.

    log hours = level + type + Σ slope × feature + noise

Features are the logarithms of the data's bytes, of the size parameters and of the instances. What nobody has seen yet
is taken to be as the priors say; a few tasks overrule them. Outliers count for little.
"""

from __future__ import annotations

import json
from dataclasses import replace
from math import exp, inf, log, log2, sqrt
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.hours.learned import BYTES, INSTANCES, Feature, LearnedHours, LearnedType
from orchestrator.planner.hours.regression import Prior, clip_outliers, robust_regression
from orchestrator.planner.hours.sizes import fixed_numbers, size_columns
from orchestrator.planner.hours.speed import EFFICIENCY, speed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from orchestrator.planner.model.arrays import Booleans, Floats
    from orchestrator.spec.sweep import Sweep

FEWEST = 5
"""Tasks of one instance type from which its runtime is learned; of fewer, nothing is."""

_LEVEL = Prior(0.0, inf)
_PROPORTIONAL_SLOPE = Prior(1.0, 0.5)
"""Twice the bytes or twice the epochs are thought to take twice as long."""
_ZERO_SLOPE = Prior(0.0, 0.5)
"""Any other parameter is thought to make no difference."""
_INSTANCES_SLOPE_SD = 0.2
_FULL_SPEEDUP_SLOPE = Prior(-1.0, 1e-6)
"""More than twice as fast with twice the instances is nothing but noise."""
TYPE_SD = 0.7
"""A type is thought to be as fast as its accelerators say, give or take a factor of two."""
_UNKNOWN_TYPE_SD = 3.0
_SPREAD_QUANTILES = (0.1, 0.9)
"""Quantiles between which eight in ten tasks lie."""


def learn(sweep: Sweep, datasets: Sequence[int], history: pd.DataFrame) -> LearnedHours | None:
    """Return what a Market's history says of the hours of this sweep's tasks; None if it has too few tasks.

    `datasets` are the bytes of those to plan for.
    """
    if len(history) < FEWEST:
        return None
    columns = _history_columns(sweep, history)
    hours, types = history["hours"].to_numpy(dtype=np.float64), history["instance_type"].to_numpy(dtype=object)
    is_known = np.logical_and.reduce([np.isfinite(each) for each in (hours, *columns.values())])
    use = _of_types_with_enough(types, (hours > 0) & is_known)
    if not use.any():
        return None
    hours, types, columns = hours[use], types[use], {name: values[use] for name, values in columns.items()}
    wanted = _wanted(sweep, datasets)
    if min(columns[BYTES].min(), wanted[BYTES].min()) <= 0:
        del columns[BYTES]  # of a classic JOBARRAY nobody knows them
    features = [_feature(name, values, wanted[name]) for name, values in columns.items()]
    return _fitted(sweep, hours, types, {feature: columns[feature.name] for feature in features})


def _wanted(sweep: Sweep, datasets: Sequence[int]) -> dict[str, Floats]:
    """Return the values of each feature for which hours are wanted."""
    given = {BYTES: np.array(datasets, dtype=np.float64), INSTANCES: np.array(sweep.train.instance_counts, dtype=float)}
    fixed = {name: np.array([value]) for name, value in fixed_numbers(sweep).items()}
    return given | fixed | size_columns(sweep)


def _history_columns(sweep: Sweep, history: pd.DataFrame) -> dict[str, Floats]:
    """Return what the hours may depend on, a column for each: its value for each finished task, nan if not known.

    A parameter that this sweep fixes counts if it was not always the same.
    """
    import pandas as pd

    codes, texts = pd.factorize(history["sizes"])
    points = json.loads(f"[{','.join(texts)}]")

    def column(name: str) -> Floats:
        return np.array([float(point.get(name, np.nan)) for point in points])[codes]

    sizes = {name: column(name) for name in sweep.points.size_parameters}
    fixed = {name: column(name) for name in fixed_numbers(sweep) if len(points) > 1 and name not in sizes}
    given = {
        BYTES: history["bytes"].to_numpy(dtype=np.float64),
        INSTANCES: history["instances"].to_numpy(dtype=np.float64),
    }
    return given | sizes | {name: values for name, values in fixed.items() if len(np.unique(values)) > 1}


def _of_types_with_enough(types: np.ndarray, known: Booleans) -> Booleans:
    """Return which of the known tasks ran on a type with at least FEWEST of them."""
    use = np.zeros(len(types), dtype=bool)
    for name in sorted(set(types[known])):
        rows = known & (types == name)
        if rows.sum() >= FEWEST:
            use |= rows
    return use


def _feature(name: str, values: Floats, wanted: Floats) -> Feature:
    logarithmic = bool(min(values.min(), wanted.min()) > 0)
    return Feature(name, float(np.median(values)), float(values.min()), float(values.max()), logarithmic)


def _fitted(sweep: Sweep, hours: Floats, types: np.ndarray, columns: Mapping[Feature, Floats]) -> LearnedHours:
    names = sorted(set(types))
    speeds = {name: speed(name) for name in names}
    is_of_type = np.stack([types == name for name in names], axis=1)
    x = np.column_stack([np.ones(len(hours)), is_of_type, *(one.column(values) for one, values in columns.items())])
    # The effect of a type is what its speed does not explain.
    y = np.log(hours) + is_of_type @ np.array([log(known or 1.0) for known in speeds.values()])
    effects = [Prior(0.0, TYPE_SD if known else _UNKNOWN_TYPE_SD) for known in speeds.values()]
    slopes = [_slope_prior(sweep, feature) for feature in columns]
    fit = robust_regression(x, y, [_LEVEL, *effects, *slopes])
    instances = [feature.name for feature in columns].index(INSTANCES)
    if fit[1 + len(names) + instances] < _FULL_SPEEDUP_SLOPE.mean:
        slopes[instances] = _FULL_SPEEDUP_SLOPE
        fit = robust_regression(x, y, [_LEVEL, *effects, *slopes])
    residuals = y - x @ fit
    # What is fitted is about the median; what is expected is the mean.
    mean_factor = float(np.exp(clip_outliers(residuals)).mean())
    freedom = len(hours) - 1 - len(names) - sum(feature.varied for feature in columns)
    # Tasks lie the closer to a model the more it fits.
    widened = residuals * sqrt(len(hours) / max(freedom, 1))
    ratio = np.exp(widened) / mean_factor
    fitted_effects, fitted_slopes = fit[1 : 1 + len(names)].tolist(), fit[1 + len(names) :].tolist()
    return LearnedHours(
        base_hours=exp(fit[0]) * mean_factor,
        features={one.name: replace(one, slope=slope) for one, slope in zip(columns, fitted_slopes, strict=True)},
        types={
            name: LearnedType(int(rows.sum()), exp(effect) / (speeds[name] or 1.0), *_spread(ratio[rows]))
            for name, effect, rows in zip(names, fitted_effects, is_of_type.T, strict=True)
        },
    )


def _slope_prior(sweep: Sweep, feature: Feature) -> Prior:
    if feature.name == INSTANCES:
        return Prior(-1 - log2(sweep.train.efficiency or EFFICIENCY), _INSTANCES_SLOPE_SD)
    sized = feature.name == BYTES or feature.name in sweep.points.size_parameters
    return _PROPORTIONAL_SLOPE if sized and feature.logarithmic else _ZERO_SLOPE


def _spread(ratio: Floats) -> tuple[float, float]:
    low, high = np.quantile(ratio, _SPREAD_QUANTILES)
    return float(low), float(high)
