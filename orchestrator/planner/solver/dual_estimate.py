"""What slots are about worth, before any program is solved: prices at which each limit is just used up.

Commodities spread over their choices the more evenly, the hotter it is; limits in demand become dearer; it cools down.
At any prices there is a proven bound on the cost. The same number of steps for each problem of the same size.
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
"""What is used less than this is not used."""


@dataclass(frozen=True)
class Cooling:
    hot: float
    cold: float
    """Parts of what a commodity costs."""
    steps: int


class DualEstimate:
    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._sizes = np.diff(np.append(columns.starts, len(columns)))
        self._typical = _typical(columns)
        self._heat = np.repeat(self._typical, self._sizes)

    def first(self, cooling: Cooling) -> Duals:
        """The charge of each copy is paid by the commodities that it would serve, in proportion to what they cost."""
        columns = self._columns
        group = np.zeros(len(columns.copy_of) + 1, dtype=np.int64)
        group[columns.link] = columns.group
        share = self._typical[group[:-1]]
        total = np.bincount(columns.copy_of, weights=share, minlength=len(columns.charges))
        links = columns.charges[columns.copy_of] * share / total[columns.copy_of]
        return self.settled(Duals(np.zeros(columns.limits), links), cooling)

    def settled(self, duals: Duals, cooling: Cooling) -> Duals:
        """Near these prices, such that no limit is asked for more than there is of it."""
        columns, limits = self._columns, duals.limits
        worth = self._worth()
        for heat in np.geomspace(cooling.hot, cooling.cold, cooling.steps):
            priced = columns.priced(Duals(limits, duals.links))
            priced -= np.repeat(np.minimum.reduceat(priced, columns.starts), self._sizes)
            parts = np.exp(-priced / (heat * self._heat))
            parts /= np.repeat(np.add.reduceat(parts, columns.starts), self._sizes)
            limits = limits + STEP * heat * worth * np.log(np.maximum(columns.used(parts), LEAST))
            limits = np.maximum(limits, 0.0)
        return Duals(limits, duals.links)

    def _worth(self) -> Floats:
        """$ of what all of each limit is used for."""
        entries, count = self._columns.entries, self._columns.limits
        part = np.bincount(entries.limit, weights=entries.part / self._heat[entries.column], minlength=count)
        return np.asarray(np.bincount(entries.limit, minlength=count) / part)


def _typical(columns: Columns) -> Floats:
    """$ that each commodity costs at a middling choice."""
    found = [float(np.median(usd)) for usd in np.split(columns.usd, columns.starts[1:])]
    return np.asarray(np.maximum(np.array(found), 1e-6 * max(columns.worst, 1e-6) / len(found)))
