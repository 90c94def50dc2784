"""The numbers of instances that a task may have at a place: each is a candidate of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    import pandas as pd


def on_each_count(candidates: pd.DataFrame, counts: Sequence[int], useful: Container[tuple[str, int]]) -> pd.DataFrame:
    """Return each candidate once for each of these numbers of instances, with the number in a column `instances`.

    Numbers that are of no use to an instance type are left out for it. A type without any keeps the first one, for
    what stands in its way must be told.
    """
    if len(counts) == 1:
        return candidates.assign(instances=counts[0])
    codes, names = candidates["instance_type"].factorize()
    of_type = [[count for count in counts if (name, count) in useful] or [counts[0]] for name in names]
    times = np.array([len(these) for these in of_type], dtype=np.int64)[codes]
    found = candidates.iloc[np.repeat(np.arange(len(candidates)), times)].reset_index(drop=True)
    return found.assign(instances=[count for code in codes for count in of_type[code]])


def on_instances(count: int) -> str:
    """Return so many instances in words, to go on with in a sentence: ` on 2 instances`."""
    return " on 1 instance" if count == 1 else f" on {count} instances"
