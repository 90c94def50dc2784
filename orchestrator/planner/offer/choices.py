"""What each choice costs: for every cohort and every candidate its hours, its dollars and its promise.

    usd      = hours that an instance is billed for a task of the cohort on average × the candidate's price × instances
               ÷ (1 − the chance that its lane refuses machines): what that adds is counted, and nobody pays it
    promise  = on-demand rate × instances × (honest factor × hours of the longest + what is kept back) + the launcher,
               where no training is thought to be shorter than a launcher starts any

billing.py says which hours are billed, and what is kept back.

What may not be exceeded is held by the longest task: the deadline, the slots' hours, the envelope, the timeout.

A candidate's price comes from the market; spot_prices.py says what an hour of managed spot costs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from orchestrator.catalog.market import stands_for
from orchestrator.plan.launcher_price import LAUNCHER_USD_PER_HOUR
from orchestrator.planner.hours.interruptions import held_hours
from orchestrator.planner.model.arrays import SLACK
from orchestrator.planner.model.choices import Choices
from orchestrator.planner.offer.billing import billed_hours, kept_back_hours
from orchestrator.planner.offer.too_long import LESS, Lasting
from orchestrator.spec.duration import HOUR
from orchestrator.wire.task import SHORTEST_S, Purchase

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from orchestrator.planner.hours.runtimes import Runtimes
    from orchestrator.planner.model.arrays import Booleans, Floats, Integers
    from orchestrator.planner.offer.cohorts import Cohort
    from orchestrator.spec.sweep import Sweep
AT_ONCE = 50_000
"""Choices that are listed at once: beside what is kept of them, a dozen more numbers are known of each meanwhile."""


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
    lister = _Lister(sweep, cohorts, runtimes, candidates)
    rows_of = [np.asarray(of_dataset[cohort.dataset]) for cohort in cohorts]
    most, count = sum(len(rows) for rows in rows_of), 0
    # Room for all is taken at once: parts that are joined later would be there twice.
    row_of = np.empty(most, dtype=np.int64)
    columns: dict[str, np.ndarray] = {}
    lost = np.full(lister.lanes, np.inf)
    for cohort, row in _few_at_once(rows_of):
        found, lasting = lister.list(cohort, row)
        allowed = np.flatnonzero(lasting.allowed)
        # Sorts are stable, and the rows of a cohort ascend: those that cost the same stay in their candidates' order.
        best_first = allowed[np.lexsort((found["usd"][allowed], cohort[allowed]))]
        until = count + len(best_first)
        row_of[count:until] = row[best_first]
        for name, values in found.items():
            columns.setdefault(name, np.empty(most, dtype=values.dtype))[count:until] = values[best_first]
        lost = np.minimum(lost, lasting.lost_by_lane(found["lane"], len(lost)))
        count = until
    too_much = np.flatnonzero(np.isfinite(lost) & (lost != LESS))
    return (
        Choices(**{name: values[:count] for name, values in columns.items()}),
        row_of[:count],
        dict(zip(too_much.tolist(), lost[too_much].tolist(), strict=True)),
    )


def _few_at_once(rows_of: Sequence[Integers]) -> Iterator[tuple[Integers, Integers]]:
    """Yield cohorts and their candidates, row by row, some at once: all would take much memory."""
    start, held = 0, 0
    for stop, rows in enumerate(rows_of, start=1):
        held += len(rows)
        if held >= AT_ONCE or stop == len(rows_of):
            its = rows_of[start:stop]
            yield np.repeat(np.arange(start, stop), [len(each) for each in its]), np.concatenate(its)
            start, held = stop, 0


class _Lister:
    """Lists choices of some cohorts at once."""

    def __init__(
        self, sweep: Sweep, cohorts: Sequence[Cohort], runtimes: Runtimes, candidates: NumberedCandidates
    ) -> None:
        self._sweep, self._candidates = sweep, candidates
        self.lanes = int(candidates.integers("lane").max(initial=-1)) + 1
        self._hours, self._longest = (
            np.array(each) for each in zip(*((each.hours, each.longest) for each in cohorts), strict=True)
        )
        codes, types = candidates.table["instance_type"].factorize()
        counts = sweep.train.instance_counts
        paces = np.array([[runtimes.pace.get((name, count), (0, np.nan)) for count in counts] for name in types])
        pace = paces[codes, np.searchsorted(counts, candidates.integers("instances"))]
        # What follows is of each candidate.
        self._source, self._factor = pace[:, 0].astype(np.int64), pace[:, 1]
        self._honest_factor = np.array([runtimes.honest_factor[name] for name in types])[codes]
        self._kept_back = kept_back_hours(candidates.floats("allowance_s"))
        self._is_spot = candidates.are(Purchase.SPOT)
        copy_hours = np.append(candidates.copies["hours"].to_numpy(dtype=np.float64), 0.0)  # NO_COPY, -1, is the last
        self._wait = np.maximum(copy_hours[candidates.integers("copy")], candidates.floats("opens_h"))
        self._refused = candidates.floats("refused")

    def list(self, cohort: Integers, row: Integers) -> tuple[dict[str, np.ndarray], Lasting]:
        """Return columns of Choices, and how long tasks last: a row for each of these cohorts with its candidate."""
        candidates = self._candidates
        source, factor = self._source[row], self._factor[row]
        work, longest = self._hours[cohort, source] * factor, self._longest[cohort, source] * factor
        is_spot, interruptions = self._is_spot[row], candidates.floats("interruptions_per_hour")[row]
        average, hours = (held_hours(self._sweep, each, is_spot, interruptions) for each in (work, longest))

        instances = candidates.integers("instances")[row]
        billed = billed_hours(average, candidates.floats("billed_start_h")[row], candidates.floats("least_h")[row])
        paid = billed * candidates.floats("usd_per_hour")[row] * instances
        # A lane that refuses half of the time is asked twice for each training, so it counts as twice as dear.
        usd = paid / (1 - self._refused[row])
        rate = candidates.floats("rate")[row] * instances
        honest = np.maximum(self._honest_factor[row] * hours, SHORTEST_S / HOUR)
        promise = rate * (honest + self._kept_back[row]) + LAUNCHER_USD_PER_HOUR * hours
        found = {
            "cohort": cohort,
            "lane": candidates.integers("lane")[row],
            "copy": candidates.integers("copy")[row],
            "hours": hours,
            "wait": self._wait[row],
            "usd": usd,
            "promise": promise,
        }
        if self._refused.any():
            found["unpaid"] = usd - paid
        if not np.array_equal(self._hours, self._longest):
            found["average"] = average
        return found, Lasting(self._sweep, longest, hours)


def add_savings_plans(
    choices: Choices, rows: Integers, candidates: NumberedCandidates, pools: pd.DataFrame
) -> tuple[Choices, Integers]:
    """Return the choices, and once more each that a savings plan can pay for: it then costs nothing, but draws on it.

    `rows` are the candidates of the choices; `pools` are a Market's. Choices are again in order, cheapest first.
    """
    if pools.empty:
        return choices, rows
    parts, rows_of = [choices], [rows]
    hourly = (candidates.floats("usd_per_hour") * candidates.integers("instances"))[rows]
    for number, pool in enumerate(pools.to_dict("records")):
        paid, which = _paid_by(number, pool, choices, np.where(_is_covered(candidates, pool)[rows], hourly, np.inf))
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
        covered &= np.asarray(table[name].isin([each for each in table[name].unique() if stands_for(pool[name], each)]))
    return np.asarray(covered)


def _paid_by(number: int, pool: dict[Any, Any], choices: Choices, hourly: Floats) -> tuple[Choices, Integers]:
    """Return the covered choices as a savings plan pays for them; and which choices those are.

    `hourly` is what an hour of each choice costs, without end where the savings plan does not cover it.

    A task that draws more in an hour than the plan pays for is left out: AWS would bill the rest of each hour. So is
    one that cannot end before the plan does.
    """
    which = np.flatnonzero(hourly * (1 - pool["discount"]) <= pool["usd_per_hour"] * SLACK)
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
