"""`sweep watch`: a run until its end."""

from __future__ import annotations

import sys

import typer

from orchestrator.cli.options import AsJson, RunName
from orchestrator.cli.session import Session
from orchestrator.cli.views.follow import follow_to_end


def watch(context: typer.Context, run: RunName = None, as_json: AsJson = False) -> None:
    """Follow a run until it has ended. Ctrl-C stops the watching; the run goes on.

    The exit code tells how it ended: 0 done, 1 failed, 5 a part failed, or it is paused. --json prints a
    line at every change.

    Example: sweep watch nightly
    """
    follow_to_end(Session.of(context).orchestrator.run(run), sys.stdout, as_json=as_json)
