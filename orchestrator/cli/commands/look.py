"""Look at runs, changing nothing: runs, status, watch, logs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import follow, render, values
from orchestrator.cli.options import AsJson, NoSync, RunName, Tasks, task_numbers
from orchestrator.cli.render import Column
from orchestrator.cli.session import Session, fresh
from orchestrator.cli.standing import REGION_COLUMNS, Standing, region_lines

if TYPE_CHECKING:
    from orchestrator.api import LogLine, RunRow


def runs(context: typer.Context, as_json: AsJson = False) -> None:
    """List the runs, the newest first.

    Example: sweep runs
    """
    rows = Session.of(context).orchestrator.runs()
    if as_json:
        render.as_json(rows)
    elif rows:
        render.as_table(rows, RUN_COLUMNS)
    else:
        render.say("no runs yet: `sweep submit sweep.yaml` starts one")


RUN_COLUMNS: tuple[Column[RunRow], ...] = (
    Column("name", lambda row: row.name),
    Column("created_at", lambda row: row.created_at, values.moment, title="created"),
    Column("state", lambda row: row.state),
    Column("tasks", lambda row: row.tasks, "{:,}".format, right=True),
    Column("usd", lambda row: row.usd, values.money, title="cost", right=True),
)


def status(context: typer.Context, run: RunName = None, no_sync: NoSync = False, as_json: AsJson = False) -> None:
    """Show how a run stands, by Region.

    Example: sweep status nightly --json
    """
    now = Standing.of(fresh(context, run, no_sync=no_sync).status())
    if as_json:
        render.as_json(now)
    else:
        render.line(f"{now}\n")
        render.as_table(region_lines(now), REGION_COLUMNS)


def watch(context: typer.Context, run: RunName = None, as_json: AsJson = False) -> None:
    """Follow a run until it has ended. Ctrl-C stops the watching; the run goes on.

    The exit code tells how it ended: 0 done, 1 failed, 5 a part failed. --json prints a line at every change.

    Example: sweep watch nightly
    """
    follow.to_the_end(Session.of(context).orchestrator.run(run), sys.stdout, as_json=as_json)


def logs(
    context: typer.Context,
    run: RunName = None,
    task: Tasks = None,
    follow_on: Annotated[bool, typer.Option("--follow", "-f", help="Stay, and print what comes.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print what the trainings wrote. --json prints an object a line.

    A task whose training never started has no log: `sweep results` has the reason.

    Example: sweep logs nightly --task 3,7-9 -f
    """
    wanted = task_numbers(task)
    lines = fresh(context, run).logs(wanted, follow=follow_on)
    for line in lines:
        if as_json:
            render.as_json_line(line)
        else:
            render.line(f"{_label(line)} {line.text}")


def _label(line: LogLine) -> str:
    return render.paint(f"[{line.task}]", TASK_COLOURS[line.task % len(TASK_COLOURS)], sys.stdout)


TASK_COLOURS = ("cyan", "green", "magenta", "yellow", "blue")
