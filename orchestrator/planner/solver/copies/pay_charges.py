"""Lets commodities pay the charges of copies, at given prices of limits. That completes duals, and proves a bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.choices import NO_COPY
from orchestrator.planner.solver.columns import Duals

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Floats
    from orchestrator.planner.solver.columns import Columns


def pay_charges(columns: Columns, limits: Floats) -> Duals:
    """Return duals with these limits, in which each copy's charge is paid by commodities that would be cheaper for it.

    Each commodity's cost rises step by step to that of its next copy, as long as all copies that would be cheaper have
    something of their charge left to pay. No copy is paid more than its charge.
    """
    none = Duals(limits, np.zeros(len(columns.copy_of)))
    costs, links = columns.reduced_costs(none), len(columns.copy_of)
    cheapest = np.full(links + 1, np.inf)
    np.minimum.at(cheapest, columns.link, costs)
    at_hand = np.full(len(columns.starts), np.inf)
    here = columns.link == NO_COPY
    np.minimum.at(at_hand, columns.commodity[here], costs[here])
    commodity = np.zeros(links + 1, dtype=np.int64)
    commodity[columns.link] = columns.commodity
    useful = np.flatnonzero(cheapest[:-1] < at_hand[commodity[:-1]])
    useful = useful[np.lexsort((cheapest[useful], commodity[useful]))]
    links_of: dict[int, list[int]] = {}
    for link in useful.tolist():
        links_of.setdefault(int(commodity[link]), []).append(link)
    left: list[float] = np.maximum(columns.unpaid_charges(none), 0.0).tolist()
    usd, most, copy = cheapest.tolist(), at_hand.tolist(), columns.copy_of.tolist()
    reached = {each: usd[its[0]] for each, its in links_of.items()}
    rising, step = list(links_of), 1
    while rising:  # all commodities rise to their second copy, then on to their third
        still = []
        for each in rising:
            cheaper = links_of[each][:step]
            until = usd[links_of[each][step]] if step < len(links_of[each]) else most[each]
            more = max(min(until - reached[each], min(left[copy[link]] for link in cheaper)), 0.0)
            for link in cheaper:
                left[copy[link]] -= more
            if reached[each] + more >= until and step < len(links_of[each]):
                still.append(each)
            reached[each] += more
        rising, step = still, step + 1
    paid = np.zeros(links)
    for each, its in links_of.items():
        paid[its] = np.maximum(reached[each] - cheapest[its], 0.0)
    return Duals(limits, paid)
