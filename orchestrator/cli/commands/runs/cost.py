"""`sweep cost`: what a run has cost, and where."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import formatting, render
from orchestrator.cli.options import AsJson, Force, NoSync, RunName
from orchestrator.cli.render import Column
from orchestrator.cli.session import Session, open_run
from orchestrator.cli.views.beside import beside_line
from orchestrator.cli.views.spending import MonthAsked, show_month
from orchestrator.errors import UsageError

if TYPE_CHECKING:
    from orchestrator.api import Beside, CostRow


@dataclass(frozen=True)
class Invoice:
    """What a run has cost: in sum, and by Region and kind of machine."""

    run: str
    usd: float
    hours: float
    rows: list[CostRow]
    beside: Beside | None = None
    """What it costs beside its trainings, which is not in the sum."""

    @classmethod
    def of(cls, run: str, rows: list[CostRow], beside: Beside | None = None) -> Invoice:
        """Return the invoice of a run with these rows."""
        return cls(run, sum(row.usd for row in rows), sum(row.hours for row in rows), rows, beside)


def cost(
    context: typer.Context,
    run: RunName = None,
    month: Annotated[
        str | None, typer.Option("--month", metavar="MONTH", help="All runs of a month instead, such as 2026-11.")
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", metavar="WHAT", help="Of a month: workload, owner, region, day or run.")
    ] = None,
    bill: Annotated[
        Path | None,
        typer.Option("--bill", metavar="FILE", help="Of a month: AWS's Cost and Usage Report, to be held beside it."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Of a month: draw it, as a .svg or .png file.")
    ] = None,
    force: Force = False,
    no_sync: NoSync = False,
    as_json: AsJson = False,
) -> None:
    """Show what a run has cost, by Region; or what all runs of a month have.

    At the prices it was planned with: they never drift. A checkpoint that was
    brought to another Region counts where it came from. What launchers, data
    copies and S3 cost beside trainings is told apart from them.

    Example: sweep cost --month 2026-11 --by workload
    """
    if month is not None:
        if run is not None:
            raise UsageError("a run or a month?", where="--month", hint="`--by run` lists the runs of a month")
        asked = MonthAsked(month, by or "workload", bill, plot, force=force, sync=not no_sync)
        show_month(Session.of(context), asked, as_json=as_json)
        return
    for option, value in (("--by", by), ("--bill", bill), ("--plot", plot)):
        if value is not None:
            raise UsageError("this is for a month", where=option, hint="--month 2026-11 names one")
    opened = open_run(context, run, no_sync=no_sync)
    invoice = Invoice.of(opened.name, opened.cost(), opened.beside(stored=not no_sync))
    if as_json:
        render.as_json(invoice)
    else:
        show_invoice(invoice)


def show_invoice(invoice: Invoice) -> None:
    """Print an invoice as a table, and its sum in one line."""
    has_sites = any(row.site for row in invoice.rows)
    render.as_table(invoice.rows, [column for column in COLUMNS if column.key != "site" or has_sites])
    render.line(
        f"\n{invoice.run}: {formatting.money(invoice.usd)} for {formatting.hours(invoice.hours)} of machine time"
    )
    if invoice.beside:
        render.line(beside_line(invoice.beside))


COLUMNS: tuple[Column[CostRow], ...] = (
    Column("platform", lambda row: row.platform, if_varied=True),
    Column("region", lambda row: row.region, title="Region"),
    Column("instance_type", lambda row: row.instance_type),
    Column("purchase", lambda row: row.purchase),
    Column("site", lambda row: row.site.rpartition("/")[2] or None),
    Column("tasks", lambda row: row.tasks, "{:,}".format, right=True),
    Column("hours", lambda row: row.hours, formatting.hours, title="billed", right=True),
    Column("usd", lambda row: row.usd, formatting.money, title="cost", right=True),
    Column(
        "moved_usd",
        lambda row: row.moved_usd or None,
        formatting.money,
        title="of it moves",
        right=True,
        if_varied=True,
    ),
)
