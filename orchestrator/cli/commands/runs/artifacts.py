"""`sweep artifacts`: the models that the tasks of a run have left in S3."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import formatting, render
from orchestrator.cli.options import AsJson, NoSync, RunName, Tasks, task_numbers
from orchestrator.cli.render import Column
from orchestrator.cli.session import open_run
from orchestrator.errors import UsageError

if TYPE_CHECKING:
    from orchestrator.api import Run, TaskRow

app = typer.Typer(help="Find and fetch the models of a run.", rich_markup_mode=None)


@dataclass(frozen=True)
class ArtifactRow:
    """What one task has left in S3."""

    task: int
    state: str
    region: str
    artifact: str
    """Its S3 URI."""


Limit = Annotated[int | None, typer.Option(min=1, metavar="N", help="Only those of the best N tasks.")]


@app.callback()
def artifacts() -> None:
    """Find and fetch the models of a run."""


@app.command("list")
def list_artifacts(
    context: typer.Context,
    run: RunName = None,
    task: Tasks = None,
    limit: Limit = None,
    no_sync: NoSync = False,
    as_json: AsJson = False,
) -> None:
    """List where the tasks have left their models in S3, best first.

    Example: sweep artifacts list nightly --limit 3
    """
    found = _rows_with_artifacts(open_run(context, run, no_sync=no_sync), task, limit)
    rows = [ArtifactRow(row.task, row.state.value, row.region, row.artifact) for row in found]
    if as_json:
        render.as_json(rows)
    elif rows:
        render.as_table(rows, COLUMNS)
    else:
        render.say("no task has left anything yet")


@app.command()
def get(
    context: typer.Context,
    run: RunName = None,
    task: Tasks = None,
    limit: Limit = None,
    to: Annotated[Path, typer.Option(metavar="FOLDER", help="The folder that gets a folder a task.")] = Path("models"),
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there already.")] = False,
    as_json: AsJson = False,
) -> None:
    """Fetch the models of tasks from S3. Name tasks, or how many of the best.

    Example: sweep artifacts get nightly --limit 1 --to best
    """
    if task is None and limit is None:
        raise UsageError("of which tasks?", where=run or "the newest run", hint="--task 3,7-9 or --limit 1, the best")
    opened = open_run(context, run)
    rows = _rows_with_artifacts(opened, task, limit)
    if not rows:
        raise UsageError("these tasks have left nothing", where=opened.name, hint="`sweep artifacts list` has all")
    fetched = []
    for one in opened.fetch_artifacts(rows, to, force=force):
        fetched.append(one)
        if not as_json:
            render.line(f"{one.task}: {one.path} ({formatting.size(one.path.stat().st_size)})")
    if as_json:
        render.as_json(fetched)


def _rows_with_artifacts(run: Run, task: str | None, limit: int | None) -> list[TaskRow]:
    """Return the tasks that were asked for and have left something, best first."""
    return [row for row in run.results(task_numbers(task))[:limit] if row.artifact]


COLUMNS: tuple[Column[ArtifactRow], ...] = (
    Column("task", lambda row: row.task, right=True),
    Column("state", lambda row: row.state),
    Column("region", lambda row: row.region, title="Region"),
    Column("artifact", lambda row: row.artifact),
)
