"""`sweep cancel`: stop a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import typer

from orchestrator.cli import render
from orchestrator.cli.confirm import confirm
from orchestrator.cli.errors import Interrupted
from orchestrator.cli.options import AsJson, RunName, Yes
from orchestrator.cli.session import Session
from orchestrator.cli.views.status import StatusView

if TYPE_CHECKING:
    from orchestrator.api import Stopped


@dataclass(frozen=True)
class Cancelled(StatusView):
    """The status of a run after its cancel, and what was asked to stop, as JSON shows it."""

    stopped: list[Stopped] = field(default_factory=list)
    """What was asked for in each Region, and has ended."""


def cancel(context: typer.Context, run: RunName = None, yes: Yes = False, as_json: AsJson = False) -> None:
    """Stop every training of a run, and start no more. Asks first.

    Ends when nothing of it runs any more, and says what was asked to stop in each Region. A run that has ended by
    itself is left as it is, and refused: exit code 2.

    Example: sweep cancel nightly --yes
    """
    opened = Session.of(context).orchestrator.run(run)
    confirm(f"Stop {opened.name}, all that runs of it?", yes=yes)
    try:
        stopped = opened.cancel()
    except KeyboardInterrupt as error:
        hint = f"`sweep cancel {opened.name}` goes on with it"
        raise Interrupted(f"some of {opened.name} may be running", hint=hint) from error
    view = StatusView.of(opened.status())
    if as_json:
        render.as_json(Cancelled(**vars(view), stopped=stopped))
    else:
        render.line(str(view))
        for one in stopped:
            render.say(str(one))
        if view.finished:
            render.say(f"nothing of {opened.name} runs any more")
        else:
            render.say(f"a retry of {opened.name} was made meanwhile, and goes on (the same command again stops it)")
