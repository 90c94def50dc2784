"""Cohorts: ranges of tasks that cost the same anywhere. The planner thinks in cohorts, never in single tasks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.wire.ranges import Ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.planner.model.arrays import Floats

BUCKET = 0.05
"""Runtimes that differ by less share a cohort, so that continuous parameters do not make a cohort each."""


@dataclass(frozen=True)
class Cohort:
    """The tasks first..first+count-1: one dataset, and sizes of about the same runtime."""

    dataset: int
    first: int
    count: int
    hours: tuple[float, ...]
    """Hours of one task on average, by each source of Runtimes."""
    longest: tuple[float, ...]
    """Hours of its longest task, by each source of Runtimes."""
    longest_size: int
    """The number of the size that takes longest, by the first source."""


def cohorts(hours: Floats, data_factor: Floats, points_per_size: int) -> list[Cohort]:
    """Return the cohorts in the order of their tasks: dataset by dataset, and in each, size by size.

    Neighbouring sizes are one cohort where every source of hours puts them into one bucket. `hours` and `data_factor`
    are those of Runtimes.
    """
    buckets = np.floor(np.log(hours) / np.log1p(BUCKET))
    starts = np.flatnonzero((np.diff(buckets, prepend=np.nan) != 0).any(axis=0)).tolist()
    sizes = hours.shape[1]
    ranges = [range(start, stop) for start, stop in zip(starts, [*starts[1:], sizes], strict=True)]
    of_one_dataset = [_cohort(these, hours, points_per_size) for these in ranges]
    offset = sizes * points_per_size
    return [
        _of_dataset(dataset, cohort, offset, times)
        for dataset, times in enumerate(data_factor.T.tolist())
        for cohort in of_one_dataset
    ]


def only(tasks: Ranges, groups: Sequence[Cohort]) -> list[Cohort]:
    """Return the cohorts of these tasks alone, numbered as if there were no others."""
    found: list[Cohort] = []
    first = 0
    for cohort in groups:
        own = Ranges(((cohort.first, cohort.first + cohort.count),))
        count = len(own) - len(own.minus(tasks))
        if count:
            found.append(replace(cohort, first=first, count=count))
        first += count
    return found


def _cohort(sizes: range, hours: Floats, points_per_size: int) -> Cohort:
    """Return the cohort of these sizes, for a dataset of factor 1 that comes first."""
    these = hours[:, sizes.start : sizes.stop]
    shortest, longest = these.min(axis=1), these.max(axis=1)
    return Cohort(
        dataset=0,
        first=sizes.start * points_per_size,
        count=len(sizes) * points_per_size,
        # A mean of equals may differ from them in its last bit.
        hours=tuple(np.where(shortest == longest, longest, these.mean(axis=1)).tolist()),
        longest=tuple(longest.tolist()),
        longest_size=sizes.start + int(these[0].argmax()),
    )


def _of_dataset(number: int, cohort: Cohort, offset: int, times: list[float]) -> Cohort:
    def all_of(hours: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(each * factor for each, factor in zip(hours, times, strict=True))

    return replace(
        cohort,
        dataset=number,
        first=number * offset + cohort.first,
        hours=all_of(cohort.hours),
        longest=all_of(cohort.longest),
    )
