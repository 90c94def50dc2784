"""Change a run, or what is known of it: cancel, retry, sync."""

from __future__ import annotations

from dataclasses import dataclass

import typer

from orchestrator.cli import render, values
from orchestrator.cli.confirm import confirm
from orchestrator.cli.options import AsJson, RunName, Tasks, Yes, task_numbers
from orchestrator.cli.problems import Interrupted
from orchestrator.cli.session import Session
from orchestrator.cli.standing import Standing


def cancel(context: typer.Context, run: RunName = None, yes: Yes = False, as_json: AsJson = False) -> None:
    """Stop every training of a run, and start no more. Asks first.

    Example: sweep cancel nightly --yes
    """
    opened = Session.of(context).orchestrator.run(run)
    confirm(f"Stop {opened.name}, all that runs of it?", yes=yes)
    try:
        standing = Standing.of(opened.cancel())
    except KeyboardInterrupt as error:
        hint = f"`sweep cancel {opened.name}` goes on with it"
        raise Interrupted(f"some of {opened.name} may be running", hint=hint) from error
    if as_json:
        render.as_json(standing)
    else:
        render.line(str(standing))


@dataclass(frozen=True)
class Retried:
    run: str
    tasks: str
    count: int


def retry(context: typer.Context, run: RunName = None, task: Tasks = None, as_json: AsJson = False) -> None:
    """Run again what is not done.

    Or exactly the tasks named. A new submission of the same run.

    Example: sweep retry nightly --task 3,7-9
    """
    opened = Session.of(context).orchestrator.run(run)
    try:
        sent = opened.retry(task_numbers(task))
    except KeyboardInterrupt as error:
        raise Interrupted("a part may have been submitted", hint="the same command again completes it") from error
    if as_json:
        render.as_json(Retried(opened.name, str(sent), len(sent)))
    elif sent:
        render.line(f"{opened.name}: {values.plural(len(sent), 'task')} submitted again: {sent}")
    else:
        render.say(f"{opened.name}: nothing to run again")


@dataclass(frozen=True)
class Synced:
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
        render.line(f"{synced.run}: {values.plural(synced.changed, 'task')} changed")
