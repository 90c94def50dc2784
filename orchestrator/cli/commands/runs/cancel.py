"""`sweep cancel`: stop a run."""

from __future__ import annotations

import typer

from orchestrator.cli import render
from orchestrator.cli.confirm import confirm
from orchestrator.cli.errors import Interrupted
from orchestrator.cli.options import AsJson, RunName, Yes
from orchestrator.cli.session import Session
from orchestrator.cli.status_view import StatusView


def cancel(context: typer.Context, run: RunName = None, yes: Yes = False, as_json: AsJson = False) -> None:
    """Stop every training of a run, and start no more. Asks first.

    Example: sweep cancel nightly --yes
    """
    opened = Session.of(context).orchestrator.run(run)
    confirm(f"Stop {opened.name}, all that runs of it?", yes=yes)
    try:
        view = StatusView.of(opened.cancel())
    except KeyboardInterrupt as error:
        hint = f"`sweep cancel {opened.name}` goes on with it"
        raise Interrupted(f"some of {opened.name} may be running", hint=hint) from error
    if as_json:
        render.as_json(view)
    else:
        render.line(str(view))
