"""Cohorts: tasks that cost the same anywhere, as ranges of numbers. The planner thinks in these, never in tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from orchestrator.planner.runtime import Hours

BUCKET = 0.05
"""Runtimes that differ by less share a cohort, so that continuous parameters do not make a cohort each."""


@dataclass(frozen=True)
class Cohort:
    """Tasks first..first+count-1: one dataset, and sizes of about the same runtime."""

    dataset: int
    first: int
    count: int
    hours: tuple[float, ...]
    """Of one task, on average: by each runtime that the sweep file gives."""
    longest: tuple[float, ...]
    """Hours of its longest task."""
    longest_size: int
    """The combination of size parameters that takes longest, by the first runtime."""


def cohorts(datasets: int, hours: Hours, points_per_size: int) -> list[Cohort]:
    """Dataset by dataset, and in each, neighbouring sizes of the same runtime buckets, by their numbers."""
    buckets = np.floor(np.log(hours) / np.log1p(BUCKET))
    starts = np.flatnonzero((np.diff(buckets, prepend=np.nan) != 0).any(axis=0)).tolist()
    sizes = hours.shape[1]
    stops = [*starts[1:], sizes]
    return [
        _cohort(dataset, dataset * sizes * points_per_size, range(start, stop), hours, points_per_size)
        for dataset in range(datasets)
        for start, stop in zip(starts, stops, strict=True)
    ]


def _cohort(dataset: int, offset: int, sizes: range, hours: Hours, points_per_size: int) -> Cohort:
    these = hours[:, sizes.start : sizes.stop]
    shortest, longest = these.min(axis=1), these.max(axis=1)
    return Cohort(
        dataset=dataset,
        first=offset + sizes.start * points_per_size,
        count=len(sizes) * points_per_size,
        # A mean of equals may differ from them in its last bit.
        hours=tuple(np.where(shortest == longest, longest, these.mean(axis=1)).tolist()),
        longest=tuple(longest.tolist()),
        longest_size=sizes.start + int(these[0].argmax()),
    )
