"""A month's cost, as `sweep cost --month` shows it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from orchestrator import files
from orchestrator.cli import formatting, render
from orchestrator.cli.render import Column
from orchestrator.cli.views.frontier import check_picture
from orchestrator.errors import SweepError, UsageError, did_you_mean

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.api import Orchestrator, Run, Spending, SpendingRow
    from orchestrator.cli.session import Session


@dataclass(frozen=True)
class MonthAsked:
    """What is asked of a month."""

    month: str
    by: str
    bill: Path | None
    plot: Path | None
    force: bool
    sync: bool


def show_month(session: Session, asked: MonthAsked, *, as_json: bool) -> None:
    """Print what a month has cost, and draw it if that is asked for. UsageError for what cannot be asked."""
    from orchestrator.api import SPENDING_KINDS, add_up, bring_up, draw_month, find_paid, read_month_span

    if asked.by not in SPENDING_KINDS:
        hint = did_you_mean(asked.by, list(SPENDING_KINDS))
        raise UsageError(f"{asked.by!r} is nothing to add up by", where="--by", hint=hint)
    check_picture(asked.plot, "--plot", "cost.svg", force=asked.force)
    month = read_month_span(asked.month)
    orchestrator = session.orchestrator
    runs, unopened = _open_all(orchestrator, learn=asked.sync)
    missed = bring_up(runs, month) if asked.sync else []
    known = find_paid(runs, month)
    known = replace(known, unknown=[*unopened, *missed, *known.unknown])
    found = add_up(known, month, asked.by)
    if asked.sync:
        found = _with_budgets(found, orchestrator)
    if asked.bill:
        from orchestrator.api import read_bill, with_bill

        found = with_bill(found, read_bill(asked.bill, month), known)
    if asked.plot:
        files.write(asked.plot, draw_month(known, month, asked.by, asked.plot.suffix[1:]))
        render.say(f"wrote {asked.plot}")
    if as_json:
        render.as_json(found)
    else:
        _show(found)


def _open_all(orchestrator: Orchestrator, *, learn: bool) -> tuple[list[Run], list[str]]:
    """Return all runs that can be opened, and a line for each that cannot.

    To learn is to ask the bucket for those of others.
    """
    runs, unopened = [], orchestrator.learn_runs() if learn else []
    for name in orchestrator.ledger.names():
        try:
            runs.append(orchestrator.run(name))
        except SweepError as error:
            unopened.append(f"run {name}: {error}")
    return runs, unopened


def _with_budgets(found: Spending, orchestrator: Orchestrator) -> Spending:
    """Return it with the budgets that runs have drawn on, where there are such budgets."""
    from orchestrator.api import BudgetOfMonth, read_month, with_budgets

    if found.by not in ("workload", "owner") or not orchestrator.settings.bucket:
        return found

    def budget_of(name: str) -> tuple[float, float] | None:
        month = read_month(BudgetOfMonth(found.by, name, found.month, 0.0), orchestrator.cloud.s3)
        return (month.limit, month.counted) if month.envelopes else None

    return with_budgets(found, budget_of)


def _show(found: Spending) -> None:
    columns = [column for column in _columns(found) if any(column.value(row) is not None for row in found.rows)]
    if found.rows:
        render.as_table(found.rows, columns)
        render.line()
    render.line(f"{found.month}: {formatting.money(found.usd)} for {formatting.hours(found.hours)} of machine time")
    render.line(found.scope)
    if found.billed is not None:
        off = "" if found.off is None else f", so our figures are {_off(found.off)}"
        render.line(f"AWS's bill has {formatting.money(found.billed)} for these runs{off}")
        if found.untagged:
            render.line(f"{formatting.money(found.untagged)} of the same services carry no run's tag")
        for run in found.only_billed:
            render.line(f"only in the bill: {run}")
    for line in found.unknown:
        render.say(f"not in it: {render.printable(line)}")


def _off(part: float) -> str:
    if abs(part) < 0.0005:
        return "right"
    return f"{abs(part):.1%} too {'high' if part > 0 else 'low'}"


def _columns(found: Spending) -> tuple[Column[SpendingRow], ...]:
    money = formatting.money
    return (
        Column(found.by, lambda row: row.name, title="Region" if found.by == "region" else ""),
        Column("runs", lambda row: row.runs, "{:,}".format, right=True),
        Column("hours", lambda row: row.hours, formatting.hours, title="billed", right=True),
        Column("usd", lambda row: row.usd, money, title="cost", right=True),
        Column("budget", lambda row: row.budget, money, right=True),
        Column("held", lambda row: row.held, money, title="spent or held", right=True),
        Column("billed", lambda row: row.billed, money, title="AWS's bill", right=True),
        Column("off", lambda row: row.off, partial(_off), title="we are", right=True),
    )
