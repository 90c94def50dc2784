"""`sweep retry`: run tasks again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from orchestrator.cli import formatting, render
from orchestrator.cli.errors import Interrupted
from orchestrator.cli.options import AsJson, RunName, Tasks, task_numbers
from orchestrator.cli.session import Session
from orchestrator.cli.views.limit_words import limit_line
from orchestrator.cli.views.status import StatusView
from orchestrator.errors import UsageError


@dataclass(frozen=True)
class Retried:
    """The tasks that were submitted again, as JSON shows them."""

    run: str
    tasks: str
    count: int


def retry(
    context: typer.Context,
    run: RunName = None,
    task: Tasks = None,
    again: Annotated[bool, typer.Option("--again", help="Of the tasks named, those that are done too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run again what is not done.

    Or exactly the tasks named. A new submission of the same run. Tasks whose budget pays for no further attempt are
    left out; if they were named, or none is left, that is refused: exit code 6.

    Example: sweep retry nightly --task 3,7-9
    """
    if again and task is None:
        raise UsageError("it trains done tasks again, and none are named", where="--again", hint="--task names them")
    opened = Session.of(context).orchestrator.run(run)
    try:
        sent = opened.retry(task_numbers(task), again=again)
    except KeyboardInterrupt as error:
        raise Interrupted("a part may have been submitted", hint="the same command again completes it") from error
    if as_json:
        render.as_json(Retried(opened.name, str(sent), len(sent)))
    elif sent:
        render.line(f"{opened.name}: {formatting.plural(len(sent), 'task')} submitted again: {sent}")
        if held := StatusView.of(opened.status()).limit:
            render.line(limit_line(opened.name, held))
    else:
        render.say(f"{opened.name}: nothing to run again")
