"""`sweep runs`: the runs of a team."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import formatting, render
from orchestrator.cli.options import AsJson
from orchestrator.cli.render import Column
from orchestrator.cli.session import Session

if TYPE_CHECKING:
    from orchestrator.api import RunRow


def runs(
    context: typer.Context,
    sync: Annotated[bool, typer.Option("--sync", help="Ask the bucket for runs of others, too.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the runs that are known here, the newest first. Where none are, the bucket is asked.

    Example: sweep runs --sync
    """
    team = Session.of(context).orchestrator
    rows = team.runs(sync=sync) or team.runs()
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
