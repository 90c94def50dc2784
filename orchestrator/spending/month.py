"""A month's amounts, added up by what one asks for, beside the budget and AWS's bill."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from math import fsum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from orchestrator.spending.bill import Bill
    from orchestrator.spending.paid import Known, MonthSpan, Paid

KINDS = ("workload", "owner", "region", "day", "run")
"""The ways of adding up."""


@dataclass(frozen=True)
class SpendingRow:
    """One line of a month: a workload, an owner, a Region, a day or a run."""

    name: str
    usd: float
    hours: float
    runs: int
    budget: float | None = None
    """Dollars that its runs of this month may cost; None where no budget is known."""
    held: float | None = None
    """Dollars of the budget that are spent or held by runs that were submitted in this month."""
    billed: float | None = None
    """Dollars of AWS's bill; None where the bill has nothing of it, or none was given."""
    off: float | None = None
    """The part of the bill by which our figure is too high: -0.1 says that it is a tenth too low."""


@dataclass(frozen=True)
class Spending:
    """What a month has cost, as far as it is known."""

    month: str
    by: str
    usd: float
    hours: float
    rows: list[SpendingRow]
    scope: str
    """One sentence: what these dollars are, and what they are not."""
    unknown: list[str] = field(default_factory=list)
    billed: float | None = None
    """Dollars of AWS's bill for the runs that were found in it."""
    off: float | None = None
    untagged: float | None = None
    """Dollars of the bill, of the services that runs use, that carry no run's tag."""
    only_billed: list[str] = field(default_factory=list)
    """Runs that the bill knows and this database does not, each with its dollars."""


def add_up(known: Known, month: MonthSpan, by: str) -> Spending:
    """Return what was paid in a month, added up by one of KINDS: the dearest first, days in their order."""
    groups: defaultdict[str, list[Paid]] = defaultdict(list)
    for one in known.paid:
        groups[str(getattr(one, by))].append(one)
    rows = [
        SpendingRow(name, fsum(one.usd for one in its), fsum(one.hours for one in its), len({one.run for one in its}))
        for name, its in groups.items()
    ]
    rows.sort(key=lambda row: row.name if by == "day" else (-row.usd, row.name))
    usd, hours = fsum(row.usd for row in rows), fsum(row.hours for row in rows)
    return Spending(month.name, by, usd, hours, rows, _scope(known, month), known.unknown)


def with_budgets(spending: Spending, budget_of: Callable[[str], tuple[float, float] | None]) -> Spending:
    """Return it with the budget of each row, and what of it is spent or held; `budget_of` returns both by the name."""
    found = {row.name: budget_of(row.name) for row in spending.rows}
    rows = [replace(row, budget=its[0], held=its[1]) if (its := found[row.name]) else row for row in spending.rows]
    return replace(spending, rows=rows)


def with_bill(spending: Spending, bill: Bill, known: Known) -> Spending:
    """Return it beside AWS's bill, by the runs' tags. Days are the bill's own, all else follows the run."""
    ours = {one.run for one in known.paid}
    billed = _billed(spending.by, bill, known)
    rows = [_beside(row, billed.get(row.name)) for row in spending.rows]
    total = fsum(usd for (run, _), usd in bill.usd.items() if run in ours)
    theirs: defaultdict[str, float] = defaultdict(float)
    for (run, _), usd in bill.usd.items():
        if run not in ours:
            theirs[run] += usd
    covered = fsum(one.usd for one in known.paid if one.run in bill.runs)
    return replace(
        spending,
        rows=rows,
        billed=total,
        off=covered / total - 1 if total > 0 else None,
        untagged=bill.untagged,
        only_billed=[f"{run}: ${usd:,.2f}" for run, usd in sorted(theirs.items())],
    )


def _billed(by: str, bill: Bill, known: Known) -> Mapping[str, float]:
    """Return the bill's dollars by what is asked for: a run's are shared among its Regions as ours are."""
    billed: defaultdict[str, float] = defaultdict(float)
    if by == "day":
        ours = {one.run for one in known.paid}
        for (run, day), usd in bill.usd.items():
            if run in ours:
                billed[day] += usd
        return billed
    of_run: defaultdict[str, list[Paid]] = defaultdict(list)
    for one in known.paid:
        of_run[one.run].append(one)
    for run, its in of_run.items():
        total, paid = bill.runs.get(run), fsum(one.usd for one in its)
        if total is None:
            continue
        for one in its:
            share = one.usd / paid if paid > 0 else 1 / len(its)
            billed[str(getattr(one, by))] += total * share
    return billed


def _beside(row: SpendingRow, billed: float | None) -> SpendingRow:
    if billed is None:
        return row
    return replace(row, billed=billed, off=row.usd / billed - 1 if billed > 0 else None)


def _scope(known: Known, month: MonthSpan) -> str:
    said = (
        f"Trainings that ended, and data that was copied, from {month.days[0]} to {month.days[-1]} (UTC), at the "
        "prices that the runs' plans froze; not launchers, storage, requests, support and taxes."
    )
    if known.running:
        runs = "1 run goes" if known.running == 1 else f"{known.running:,} runs go"
        said += f" {runs} on: about ${known.running_usd:,.2f} of trainings under way are not in it."
    return said
