"""Estimates what slots are worth before any program is solved: duals at which each limit is just used up.

Commodities spread over their choices, the more evenly the hotter it is. Limits that are asked for too much become
dearer, and it cools down. All problems of one size take the same number of steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.solver.columns import Duals

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Floats
    from orchestrator.planner.solver.columns import Columns

STEP = 1.5
LEAST = 1e-6
"""A limit that is used less than this counts as used so much."""


@dataclass(frozen=True)
class Cooling:
    """A way to cool down: from `hot` to `cold`, in so many steps. Heat is a part of what a commodity costs."""

    hot: float
    cold: float
    steps: int


class DualEstimate:
    """Estimates the duals of these columns."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._sizes = np.diff(np.append(columns.starts, len(columns)))
        """Columns of each commodity."""
        self._typical = _typical_usd(columns)
        self._heat = np.repeat(self._typical, self._sizes)
        # Most columns are under one limit: that one is looked up for all at once, and the others are added.
        self._first, self._first_part = columns.first_limit
        usage = columns.usage
        self._others = np.flatnonzero(usage.limit != self._first[usage.column])
        """The entries of the usage that are no column's first."""

    def estimate(self, cooling: Cooling) -> Duals:
        """Return duals, when none are known yet.

        The charge of each copy is paid by the commodities that it would serve, in proportion to what they cost.
        """
        columns = self._columns
        commodity = np.zeros(len(columns.copy_of) + 1, dtype=np.int64)
        commodity[columns.link] = columns.commodity
        share = self._typical[commodity[:-1]]
        total = np.bincount(columns.copy_of, weights=share, minlength=len(columns.charges))
        links = columns.charges[columns.copy_of] * share / total[columns.copy_of]
        return self.settle(Duals(np.zeros(columns.limit_count), links), cooling)

    def settle(self, duals: Duals, cooling: Cooling) -> Duals:
        """Return duals near these at which no limit is asked for more than there is of it. Those of links stay."""
        columns, limits, worth = self._columns, duals.limits, self._worth()
        usd = columns.usd + np.append(duals.links, 0.0)[columns.link]
        for heat in np.geomspace(cooling.hot, cooling.cold, cooling.steps):
            used = self._used(self._parts(usd, limits, heat))
            limits = limits + STEP * heat * worth * np.log(np.maximum(used, LEAST))
            limits = np.maximum(limits, 0.0)
        return Duals(limits, duals.links)

    def _parts(self, usd: Floats, limits: Floats, heat: float) -> Floats:
        """Return the part of its commodity that each column takes at this heat; `usd` knows nothing of limits."""
        columns, usage, others = self._columns, self._columns.usage, self._others
        parts = np.append(limits, 0.0)[self._first]  # in place from here on: all steps together take long
        parts *= self._first_part
        parts += usd
        if len(others):
            more = limits[usage.limit[others]] * usage.part[others]
            parts += np.bincount(usage.column[others], weights=more, minlength=len(columns))
        parts -= np.repeat(np.minimum.reduceat(parts, columns.starts), self._sizes)
        parts /= self._heat
        parts *= -1.0 / heat
        np.exp(parts, out=parts)
        parts /= np.repeat(np.add.reduceat(parts, columns.starts), self._sizes)
        return parts

    def _used(self, parts: Floats) -> Floats:
        """Return how much of each limit the columns use, if they take these parts of their commodities."""
        usage, others, count = self._columns.usage, self._others, self._columns.limit_count
        used = np.bincount(self._first, weights=self._first_part * parts, minlength=count + 1)[:count]
        if len(others):
            more = usage.part[others] * parts[usage.column[others]]
            used += np.bincount(usage.limit[others], weights=more, minlength=count)
        return np.asarray(used, dtype=np.float64)

    def _worth(self) -> Floats:
        """Return about how many dollars all of each limit is used for."""
        usage, count = self._columns.usage, self._columns.limit_count
        part = np.bincount(usage.limit, weights=usage.part / self._heat[usage.column], minlength=count)
        return np.asarray(np.bincount(usage.limit, minlength=count) / np.where(part > 0, part, np.inf))


def _typical_usd(columns: Columns) -> Floats:
    """Return the dollars that each commodity costs at a middling choice."""
    found = [float(np.median(usd)) for usd in np.split(columns.usd, columns.starts[1:])]
    return np.asarray(np.maximum(np.array(found), 1e-6 * max(columns.worst_usd, 1e-6) / len(found)))
