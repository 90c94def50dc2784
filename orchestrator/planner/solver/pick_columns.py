"""Picks some of the relaxation's columns: the cheapest, or those that together hold about everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Floats, Integers
    from orchestrator.planner.solver.columns import Columns


LEAST = 1e-12
"""A column that uses less than this part of its limit counts as using so much."""


def cheapest_columns(columns: Columns, costs: Floats, count: int) -> Integers:
    """Return so many columns of each commodity, the cheapest at these costs."""
    return np.flatnonzero(rank_in_group(columns.commodity, costs) < count)


def greedy_columns(columns: Columns, costs: Floats) -> Integers:
    """Return columns that hold about everything.

    Each commodity in turn, the dearest first, takes its cheapest columns, as far as their first limits are still free.
    """
    limit, part = columns.first_limit
    free = np.append(np.ones(columns.limit_count), np.inf)
    stops = np.append(columns.starts[1:], len(columns))
    found = []
    for commodity in np.argsort(-np.minimum.reduceat(costs, columns.starts), kind="stable").tolist():
        its = np.arange(columns.starts[commodity], stops[commodity])
        its = its[np.argsort(costs[its], kind="stable")]
        can = np.minimum(free[limit[its]] / np.maximum(part[its], LEAST), 1.0)
        taken = np.clip(1 - (np.cumsum(can) - can), 0.0, can)
        used = taken > 1e-9
        found.append(its[used])
        np.subtract.at(free, limit[its[used]], (taken * part[its])[used])
    return np.concatenate(found)


def rank_in_group(group: Integers, value: Floats) -> Integers:
    """Return for each row its rank among the rows of its group: 0 for the smallest value."""
    order = np.lexsort((value, group))
    in_order = group[order]
    starts = np.flatnonzero(np.append(True, in_order[1:] != in_order[:-1])) if len(group) else order
    sizes = np.diff(np.append(starts, len(group)))
    ranks = np.empty(len(group), dtype=np.int64)
    ranks[order] = np.arange(len(group)) - np.repeat(starts, sizes)
    return ranks
