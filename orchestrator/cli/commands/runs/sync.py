"""`sweep sync`: bring the database up to date."""

from __future__ import annotations

from dataclasses import dataclass

import typer

from orchestrator.cli import formatting, render
from orchestrator.cli.options import AsJson, RunName
from orchestrator.cli.session import Session


@dataclass(frozen=True)
class Synced:
    """The number of tasks whose state changed, as JSON shows it."""

    run: str
    changed: int


def sync(context: typer.Context, run: RunName = None, as_json: AsJson = False) -> None:
    """Bring the database up to date with AWS.

    status, results, cost, logs and watch do that by themselves.

    Example: sweep sync nightly
    """
    opened = Session.of(context).orchestrator.run(run)
    synced = Synced(opened.name, opened.sync())
    if as_json:
        render.as_json(synced)
    else:
        render.line(f"{synced.run}: {formatting.plural(synced.changed, 'task')} changed")
