"""`sweep results`: the tasks of a run, ranked by its objective."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import files, render, values
from orchestrator.cli.options import AsJson, NoSync, RunName
from orchestrator.cli.render import Column
from orchestrator.cli.session import fresh
from orchestrator.errors import UsageError

if TYPE_CHECKING:
    from orchestrator.api import TaskRow


def results(
    context: typer.Context,
    run: RunName = None,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the best N.")] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw the learning curves: a .svg or .png file.")
    ] = None,
    no_sync: NoSync = False,
    as_json: AsJson = False,
) -> None:
    """Rank the tasks by the sweep's objective, best first.

    Example: sweep results nightly --limit 10 --plot curves.svg
    """
    if plot and plot.suffix not in (".svg", ".png"):
        raise UsageError(f"{plot} is neither a .svg nor a .png file", where="--plot", hint="name it curves.svg")
    opened = fresh(context, run, no_sync=no_sync)
    rows = opened.results()[:limit]
    if plot or as_json:
        rows = opened.with_curves(rows)
    if plot:
        files.write(plot, opened.draw(rows, plot.suffix[1:]))
        render.say(f"wrote {plot}")
    if as_json:
        render.as_json(rows)
    elif as_csv:
        render.as_csv(rows, columns_of(rows))
    else:
        show(rows)


def show(rows: list[TaskRow]) -> None:
    render.as_table(rows, [column for column in columns_of(rows) if _worth_showing(column, rows)])


def columns_of(rows: list[TaskRow]) -> list[Column[TaskRow]]:
    point = list(dict.fromkeys(name for row in rows for name in row.point))
    metrics = list(dict.fromkeys(name for row in rows for name in row.metrics))
    return [
        Column("task", lambda row: row.task, right=True),
        Column("dataset", lambda row: row.dataset),
        *(_point_column(name) for name in point),
        *(_metric_column(name) for name in metrics),
        Column("state", lambda row: row.state.value),
        _so_far_column(Column("seconds", lambda row: row.seconds, values.duration, title="time")),
        _so_far_column(Column("usd", lambda row: row.usd, values.money, title="cost")),
        Column("region", lambda row: row.region, spare=True),
        Column("instance_type", lambda row: row.instance_type, spare=True),
        Column("purchase", lambda row: row.purchase, spare=True),
        Column("attempt", lambda row: row.attempt, right=True, spare=True),
        Column("estimated", lambda row: row.estimated),
        Column("training", lambda row: row.training),
        Column("reason", lambda row: row.reason),
    ]


def _worth_showing(column: Column[TaskRow], rows: list[TaskRow]) -> bool:
    """A table has room for what tells tasks apart; CSV and JSON hold the rest."""
    if column.key == "reason":
        return any(row.reason for row in rows)
    return column.key not in ("training", "estimated")


def _so_far_column(column: Column[TaskRow]) -> Column[TaskRow]:
    """Of what still runs, it is up to now."""
    return replace(column, right=True, spare=True, about=lambda row: row.estimated)


def _point_column(name: str) -> Column[TaskRow]:
    return Column(f"point.{name}", lambda row: row.point.get(name), title=name, right=True)


def _metric_column(name: str) -> Column[TaskRow]:
    return Column(f"metric.{name}", lambda row: row.metrics.get(name), values.number, title=name, right=True)
