"""`sweep status`: how a run stands."""

from __future__ import annotations

import typer

from orchestrator.cli import render
from orchestrator.cli.options import AsJson, NoSync, RunName
from orchestrator.cli.session import open_run
from orchestrator.cli.views.limit_words import limit_line
from orchestrator.cli.views.pause_words import pause_line
from orchestrator.cli.views.status import REGION_COLUMNS, StatusView, outlook_line, region_lines


def status(context: typer.Context, run: RunName = None, no_sync: NoSync = False, as_json: AsJson = False) -> None:
    """Show how a run stands, by Region, and what is expected of it.

    Example: sweep status nightly --json
    """
    view = StatusView.of(open_run(context, run, no_sync=no_sync, documents=False).status())
    if as_json:
        render.as_json(view)
    else:
        render.line(str(view))
        if view.outlook:
            render.line(outlook_line(view))
        if view.limit:
            render.line(limit_line(view.run, view.limit))
        if view.paused:
            render.line(pause_line(view.run, view.paused))
        render.line()
        render.as_table(region_lines(view), REGION_COLUMNS)
