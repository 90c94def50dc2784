"""`sweep results`: the tasks of a run, ranked by its objective."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator import files
from orchestrator.cli import formatting, render
from orchestrator.cli.options import AsJson, Force, NoSync, RunName
from orchestrator.cli.render import Column
from orchestrator.cli.session import open_run
from orchestrator.cli.views.frontier import check_picture
from orchestrator.cli.views.metric_warning import (
    warn_of_metric_read_anew,
    warn_of_missing_metric,
    warn_of_unfound_metrics,
)
from orchestrator.cli.views.pause_words import warn_of_pause
from orchestrator.errors import PartlyFailed, UsageError

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
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", metavar="NAME=REGEX", help="Read the logs again for this metric. May be repeated."),
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep what --metric finds with the run, for everybody.")] = False,
    force: Force = False,
    no_sync: NoSync = False,
    as_json: AsJson = False,
) -> None:
    """Rank the tasks by the sweep's objective, best first; after them those without a value, and last those with NaN.

    It ends with 5 if logs could not be read for --metric: what is known of their tasks is shown all the same.

    Example: sweep results nightly --limit 10 --plot curves.svg
    """
    check_picture(plot, "--plot", "curves.svg", force=force)
    regexes = metric_regexes(metric or [])
    if keep and not regexes:
        raise UsageError("there is nothing to keep", where="--keep", hint="--metric NAME=REGEX says what to look for")
    opened = open_run(context, run, no_sync=no_sync)
    rows = opened.results()
    if regexes:
        warn_of_metric_read_anew(opened.plan.sweep.objective, regexes)
        rows = opened.measure(rows, regexes, keep=keep)
        warn_of_unfound_metrics(regexes, [row for row in rows if not row.unread])
    warn_of_missing_metric(opened.plan.sweep.objective, rows)
    warn_of_pause(opened.name, rows)
    every, rows = rows, rows[:limit]
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
        show_results(rows)
    check_read(every)


def check_read(rows: list[TaskRow]) -> None:
    """Raise PartlyFailed, with the Regions, if the logs of some tasks could not be read."""
    left_out = [row for row in rows if row.unread]
    if left_out:
        whys = "; ".join(sorted({row.unread for row in left_out}))
        what = f"the logs of {formatting.plural(len(left_out), 'task')} were not read: {whys}"
        raise PartlyFailed(what, hint="what was known of them before is shown; the same command again reads them")


def metric_regexes(texts: list[str]) -> dict[str, re.Pattern[str]]:
    """Return the regexes that --metric gives, by name. Raise UsageError for a text that gives none."""
    found = {}
    for text in texts:
        name, _, regex = text.partition("=")
        try:
            pattern = re.compile(regex)
        except (re.error, OverflowError, RecursionError) as error:
            raise UsageError(f"not a regular expression: {error}", where=f"--metric {text}") from error
        if not name or pattern.groups != 1:
            hint = "write --metric 'acc=accuracy: ([0-9.]+)', with one pair of parentheses around the number"
            raise UsageError("no metric", where=f"--metric {text}", hint=hint)
        found[name] = pattern
    return found


def show_results(rows: list[TaskRow]) -> None:
    """Print tasks as a table, with the columns that tell them apart."""
    render.as_table(rows, [column for column in columns_of(rows) if _worth_showing(column, rows)])


def columns_of(rows: list[TaskRow]) -> list[Column[TaskRow]]:
    """Return the columns of these tasks: one for each parameter and metric that any of them has, and the fixed ones."""
    point = list(dict.fromkeys(name for row in rows for name in row.point))
    metrics = list(dict.fromkeys(name for row in rows for name in (*row.metrics, *row.not_finite)))
    return [
        Column("task", lambda row: row.task, right=True),
        Column("dataset", lambda row: row.dataset),
        *(_point_column(name) for name in point),
        *(_metric_column(name) for name in metrics),
        Column("score", lambda row: row.score, formatting.number, right=True),
        Column("state", lambda row: row.state.value),
        _maybe_estimated(Column("seconds", lambda row: row.seconds, formatting.duration, title="time")),
        _maybe_estimated(Column("usd", lambda row: row.usd, formatting.money, title="cost")),
        Column(
            "waited_s", lambda row: row.waited_s or None, formatting.duration, title="waited", right=True, optional=True
        ),
        Column("platform", lambda row: row.platform, optional=True, if_varied=True),
        Column("region", lambda row: row.region, optional=True),
        Column("site", lambda row: row.site.rpartition("/")[2] or None, optional=True),
        Column("instance_type", lambda row: row.instance_type, optional=True),
        Column("purchase", lambda row: row.purchase, optional=True),
        Column("attempt", lambda row: row.attempt, right=True, optional=True),
        Column("estimated", lambda row: row.estimated),
        Column("training", lambda row: row.training),
        Column("artifact", lambda row: row.artifact),
        Column("reason", lambda row: row.reason),
        Column("note", lambda row: row.note),
        Column("unread", lambda row: row.unread),
    ]


def _worth_showing(column: Column[TaskRow], rows: list[TaskRow]) -> bool:
    """Return True if a table has the column. What tells no tasks apart is in CSV and JSON only."""
    if column.key in ("reason", "note", "site", "waited_s"):
        return any(column.value(row) for row in rows)
    if column.key == "score":  # it is the best of a curve, which no metric's column shows
        return any(row.score is not None and row.score not in row.metrics.values() for row in rows)
    return column.key not in ("training", "estimated", "artifact", "unread")


def _maybe_estimated(column: Column[TaskRow]) -> Column[TaskRow]:
    """Return the column with its values marked as estimates where tasks still run."""
    return replace(column, right=True, optional=True, is_estimate=lambda row: row.estimated)


def _point_column(name: str) -> Column[TaskRow]:
    return Column(f"point.{name}", lambda row: row.point.get(name), title=name, right=True)


def _metric_column(name: str) -> Column[TaskRow]:
    def value(row: TaskRow) -> float | None:
        return row.metrics.get(name, math.nan if name in row.not_finite else None)

    return Column(f"metric.{name}", value, formatting.number, title=name, right=True)
