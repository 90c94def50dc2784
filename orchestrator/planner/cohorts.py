"""Cohorts: tasks that cost the same anywhere, as ranges of numbers. The planner thinks in these, never in tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from orchestrator.planner.runtime import Hours

BUCKET = 0.05
"""Runtimes that differ by less share a cohort, so that continuous parameters do not make a cohort each."""

COHORTS = ("dataset", "first", "count", "size", "hours", "longest")


def cohorts(datasets: int, hours: Hours, points_per_size: int) -> pd.DataFrame:
    """COHORTS: dataset by dataset, and in each, neighbouring sizes of the same runtime bucket.

    `size` is the first combination of size parameters, `hours` the mean of all and `longest` their longest.
    """
    buckets = np.floor(np.log(hours) / np.log1p(BUCKET))
    starts = np.flatnonzero(np.diff(buckets, prepend=np.nan) != 0)
    sizes = np.diff(starts, append=len(hours))
    longest = np.maximum.reduceat(hours, starts)
    # A mean of equals may differ from them in the last bit.
    equal = longest == np.minimum.reduceat(hours, starts)
    one = pd.DataFrame(
        {
            "first": starts * points_per_size,
            "count": sizes * points_per_size,
            "size": starts,
            "hours": np.where(equal, longest, np.add.reduceat(hours, starts) / sizes),
            "longest": longest,
        }
    )
    every = pd.concat([one] * datasets, ignore_index=True)
    every.insert(0, "dataset", np.repeat(np.arange(datasets), len(one)))
    every["first"] += every["dataset"] * (len(hours) * points_per_size)
    return every
