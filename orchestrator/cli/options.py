"""Options and arguments that several commands share."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.complete import run_names
from orchestrator.errors import UsageError

if TYPE_CHECKING:
    from orchestrator.api import Ranges

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
RunName = Annotated[
    str | None,
    typer.Argument(metavar="[RUN]", help="A run's name; without one, the newest.", autocompletion=run_names),
]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that sweep did not write.")]
Tasks = Annotated[str | None, typer.Option("--task", metavar="N,N-N", help="Only these tasks, such as 3,7-9.")]
AsOf = Annotated[
    str | None, typer.Option("--as-of", metavar="DATE", help="By what was known then, such as 2026-11-01.")
]
NoSync = Annotated[bool, typer.Option("--no-sync", help="Show what is known here, without asking AWS for news.")]


def task_numbers(text: str | None) -> Ranges | None:
    """Return the tasks that --task names, or None if it is not given. Raise UsageError if it names none."""
    if text is None:
        return None
    from orchestrator.api import Ranges

    try:
        return Ranges.parse(text)
    except ValueError as error:
        raise UsageError(f"{text!r} names no tasks", where="--task", hint="write numbers and ranges: 3,7-9") from error


def moment(text: str | None) -> datetime | None:
    """Return the moment that --as-of names, in UTC unless it says a zone. Raise UsageError if it names none."""
    if text is None:
        return None
    try:
        read = datetime.fromisoformat(re.sub("[zZ]$", "+00:00", text))
    except ValueError as error:
        hint = "write it like 2026-11-01 or 2026-11-01T18:30:00Z"
        raise UsageError(f"{text!r} is no moment", where="--as-of", hint=hint) from error
    then = read if read.tzinfo else read.replace(tzinfo=timezone.utc)
    if then > datetime.now(timezone.utc):
        raise UsageError(f"{text} is yet to come", where="--as-of", hint="leave it out to plan by what is known now")
    return then


def time_limit_seconds(text: str | None) -> float | None:
    """Return the seconds that --time-limit says, or None if it is not given. Raise UsageError if it is no time."""
    if text is None:
        return None
    from orchestrator.api import read_duration

    try:
        seconds = read_duration(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is no duration", where="--time-limit", hint="write it like 30s or 5m") from error
    if seconds == 0:
        raise UsageError("no time at all is too little", where="--time-limit", hint="write it like 30s or 5m")
    return float(seconds)
