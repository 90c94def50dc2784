"""`sweep runs`: the runs of a team."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from orchestrator.cli import formatting, render
from orchestrator.cli.options import AsJson, NoSync
from orchestrator.cli.render import Column
from orchestrator.cli.session import Session

if TYPE_CHECKING:
    from orchestrator.api import RunRow


def runs(context: typer.Context, no_sync: NoSync = False, as_json: AsJson = False) -> None:
    """List the runs, the newest first.

    Example: sweep runs
    """
    rows = Session.of(context).orchestrator.runs(sync=not no_sync)
    if as_json:
        render.as_json(rows)
    elif rows:
        render.as_table(rows, COLUMNS)
    else:
        render.say("no runs yet: `sweep submit sweep.yaml` starts one")


COLUMNS: tuple[Column[RunRow], ...] = (
    Column("name", lambda row: row.name),
    Column("created_at", lambda row: row.created_at, formatting.moment, title="created"),
    Column("state", lambda row: row.state),
    Column("tasks", lambda row: row.tasks, "{:,}".format, right=True),
    Column("usd", lambda row: row.usd, formatting.money, title="cost", right=True),
)
