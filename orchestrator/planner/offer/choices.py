"""What each choice costs: for every cohort and every candidate its hours, its dollars and its promise.

    usd      = hours that a task of the cohort is held on average × the candidate's price × instances
               ÷ (1 − the chance that its lane refuses machines): what that adds is counted, and nobody pays it
    promise  = on-demand rate × instances × (honest factor × hours of the longest + what is kept back) + the launcher

What may not be exceeded is held by the longest task: the deadline, the slots' hours, the envelope, the timeout.

A candidate's price comes from the market; spot_prices.py says what an hour of managed spot costs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from orchestrator.catalog.market import ANY
from orchestrator.plan.launcher_price import LAUNCHER_USD_PER_HOUR
from orchestrator.planner.hours.interruptions import held_hours
from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.model.choices import Choices
from orchestrator.planner.offer.too_long import Lasting
from orchestrator.spec.duration import HOUR
from orchestrator.wire.task import KEPT_BACK_S, Purchase

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from orchestrator.planner.hours.runtimes import Runtimes
    from orchestrator.planner.model.arrays import Booleans, Floats, Integers
    from orchestrator.planner.offer.cohorts import Cohort
    from orchestrator.spec.sweep import Sweep

KEPT_BACK_HOURS = KEPT_BACK_S / HOUR
"""Hours that an envelope pays for besides the training's own time, as the launcher keeps them back."""


@dataclass(frozen=True)
class NumberedCandidates:
    """The candidates that can be used, with their lanes and copies by number."""

    table: pd.DataFrame
    """The candidates as in a Market, but with datasets by number, and with columns `instances`, `lane`, `copy` and
    `rate`."""
    copies: pd.DataFrame
    """The copies by number, with columns COPIES."""

    def floats(self, name: str) -> Floats:
        return self.table[name].to_numpy(dtype=np.float64)

    def integers(self, name: str) -> Integers:
        return self.table[name].to_numpy(dtype=np.int64)

    def are(self, purchase: Purchase) -> Booleans:
        return np.asarray(self.table["purchase"] == purchase.value)


def list_choices(
    sweep: Sweep, cohorts: Sequence[Cohort], runtimes: Runtimes, candidates: NumberedCandidates
) -> tuple[Choices, Integers, dict[int, float]]:
    """Return the choices, cohort by cohort and cheapest first; for each the row of its candidate; and the hours lost.

    A candidate where the longest task of a cohort would run into its timeout is no choice for it, nor is one where
    interruptions would cost it more than the sweep allows: the hours that they would, by lane, are the third value.
    """
    of_dataset = {int(name): rows for name, rows in candidates.table.groupby("dataset").indices.items()}  # type: ignore[call-overload]
    rows_of = [of_dataset[cohort.dataset] for cohort in cohorts]
    cohort = np.repeat(np.arange(len(cohorts)), [len(rows) for rows in rows_of])
    row = np.concatenate(rows_of)

    codes, types = candidates.table["instance_type"].factorize()
    code = codes[row]
    instances = candidates.integers("instances")[row]
    counts = sweep.train.instance_counts
    paces = np.array([[runtimes.pace.get((name, count), (0, np.nan)) for count in counts] for name in types])
    pace = paces[code, np.searchsorted(counts, instances)]
    source, factor = pace[:, 0].astype(np.int64), pace[:, 1]
    honest_factor = np.array([runtimes.honest_factor[name] for name in types])[code]
    work = np.array([each.hours for each in cohorts])[cohort, source] * factor
    longest = np.array([each.longest for each in cohorts])[cohort, source] * factor
    is_spot = candidates.are(Purchase.SPOT)[row]
    interruptions = candidates.floats("interruptions_per_hour")[row]
    average, hours = (held_hours(sweep, each, is_spot, interruptions) for each in (work, longest))

    paid = average * candidates.floats("usd_per_hour")[row] * instances
    # A lane that refuses half of the time is asked twice for each training, so it counts as twice as dear.
    usd = paid / (1 - candidates.floats("refused")[row])
    rate = candidates.floats("rate")[row] * instances
    promise = rate * (honest_factor * hours + KEPT_BACK_HOURS) + LAUNCHER_USD_PER_HOUR * hours

    copy, lane = candidates.integers("copy")[row], candidates.integers("lane")[row]
    copy_hours = np.append(candidates.copies["hours"].to_numpy(dtype=np.float64), 0.0)  # NO_COPY, -1, is the last
    wait = np.maximum(copy_hours[copy], candidates.floats("opens_h")[row])

    lasting = Lasting(sweep, longest, hours)
    allowed = np.flatnonzero(lasting.allowed)
    # Sorts are stable, and the rows of a cohort ascend: those that cost the same stay in their candidates' order.
    best_first = allowed[np.lexsort((usd[allowed], cohort[allowed]))]
    found = Choices(cohort, lane, copy, hours, wait, usd, promise, average=average, unpaid=usd - paid)
    return found.take(best_first), row[best_first], lasting.lost_by_lane(lane)


def add_savings_plans(
    choices: Choices, rows: Integers, candidates: NumberedCandidates, pools: pd.DataFrame
) -> tuple[Choices, Integers]:
    """Return the choices, and once more each that a savings plan can pay for: it then costs nothing, but draws on it.

    `rows` are the candidates of the choices; `pools` are a Market's. Choices are again in order, cheapest first.
    """
    if pools.empty:
        return choices, rows
    parts, rows_of = [choices], [rows]
    for number, pool in enumerate(pools.to_dict("records")):
        paid, which = _paid_by(number, pool, choices, _is_covered(candidates, pool)[rows])
        parts.append(paid)
        rows_of.append(rows[which])
    found, row = Choices.join(parts), np.concatenate(rows_of)
    order = np.lexsort((found.pool, row, found.usd, found.cohort))
    return found.take(order), row[order]


def _is_covered(candidates: NumberedCandidates, pool: dict[Any, Any]) -> Booleans:
    """Return which candidates a savings plan covers: on-demand lanes of its platform, Region and type."""
    table = candidates.table
    covered = candidates.are(Purchase.ON_DEMAND) & np.asarray(table["platform"] == pool["platform"])
    for name in ("region", "instance_type"):
        covered &= np.asarray(table[name] == pool[name]) | (pool[name] == ANY)
    return np.asarray(covered)


def _paid_by(number: int, pool: dict[Any, Any], choices: Choices, covered: Booleans) -> tuple[Choices, Integers]:
    """Return the covered choices as a savings plan pays for them; and which choices those are.

    A task that draws more in an hour than the plan pays for is left out: AWS would bill the rest of each hour. So is
    one that cannot end before the plan does.
    """
    which = np.flatnonzero(covered)
    draw = choices.paid[which] * (1 - pool["discount"])
    which = which[draw <= pool["usd_per_hour"] * choices.average[which] * SLACK]
    wait = np.maximum(choices.wait[which], pool["opens_h"])
    in_time = wait + choices.hours[which] <= pool["closes_h"]
    which, wait = which[in_time], wait[in_time]
    drawing = choices.take(which)
    paid = replace(
        drawing,
        wait=wait,
        usd=drawing.unpaid,
        pool=np.full(len(which), number),
        draw=drawing.paid * (1 - pool["discount"]),
    )
    return paid, which
