"""`sweep cost`: what a run has cost, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from orchestrator.cli import formatting, render
from orchestrator.cli.options import AsJson, NoSync, RunName
from orchestrator.cli.render import Column
from orchestrator.cli.session import open_run

if TYPE_CHECKING:
    from orchestrator.api import CostRow


@dataclass(frozen=True)
class Invoice:
    """What a run has cost: in sum, and by Region and kind of machine."""

    run: str
    usd: float
    hours: float
    rows: list[CostRow]

    @classmethod
    def of(cls, run: str, rows: list[CostRow]) -> Invoice:
        """Return the invoice of a run with these rows."""
        return cls(run, sum(row.usd for row in rows), sum(row.hours for row in rows), rows)


def cost(context: typer.Context, run: RunName = None, no_sync: NoSync = False, as_json: AsJson = False) -> None:
    """Show what a run has cost, by Region.

    At the prices it was planned with: they never drift.

    Example: sweep cost nightly
    """
    opened = open_run(context, run, no_sync=no_sync)
    invoice = Invoice.of(opened.name, opened.cost())
    if as_json:
        render.as_json(invoice)
    else:
        show_invoice(invoice)


def show_invoice(invoice: Invoice) -> None:
    """Print an invoice as a table, and its sum in one line."""
    render.as_table(invoice.rows, COLUMNS)
    render.line(
        f"\n{invoice.run}: {formatting.money(invoice.usd)} for {formatting.hours(invoice.hours)} of machine time"
    )


COLUMNS: tuple[Column[CostRow], ...] = (
    Column("platform", lambda row: row.platform, if_varied=True),
    Column("region", lambda row: row.region, title="Region"),
    Column("instance_type", lambda row: row.instance_type),
    Column("purchase", lambda row: row.purchase),
    Column("tasks", lambda row: row.tasks, "{:,}".format, right=True),
    Column("hours", lambda row: row.hours, formatting.hours, title="billed", right=True),
    Column("usd", lambda row: row.usd, formatting.money, title="cost", right=True),
)
