"""`sweep local clock`: what time it is in the local AWS, and another time there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Annotated
from zoneinfo import ZoneInfo

import typer

from orchestrator.cli import render
from orchestrator.cli.commands.account.local_fault import steer
from orchestrator.cli.commands.account.local_home import Home
from orchestrator.cli.options import AsJson
from orchestrator.errors import UsageError

_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)", re.ASCII)


@dataclass(frozen=True)
class Now:
    """What time it is in a local AWS, in seconds since the epoch."""

    now: float


def clock(
    home: Home,
    by: Annotated[str | None, typer.Option(metavar="TIME", help="Move it on by so much, such as 24h.")] = None,
    to: Annotated[
        str | None, typer.Option(metavar="HH:MM", help="Move it to the next time that it is this late.")
    ] = None,
    timezone_: Annotated[
        str, typer.Option("--timezone", metavar="ZONE", help="Whose time is meant, and shown.")
    ] = "UTC",
    as_json: AsJson = False,
) -> None:
    """Show what time it is in the local AWS that runs, or move its clock on: it never goes back.

    What would have happened meanwhile happens now: schedules begin their nights, time-outs end jobs.

    Example: sweep local clock --to 02:00 --timezone Europe/Berlin
    """
    from orchestrator.api import read_schedule

    zone = read_schedule({"cron": "0 0 * * *", "timezone": timezone_}).zone
    if by is not None and to is not None:
        raise UsageError("is it to be moved by a time, or to a time?", where="--by, --to", hint="give one of them")
    steering = steer(home)
    if by is not None:
        steering.advance(_length(by))
    if to is not None:
        now = steering.now()
        steering.advance(_next(to, timezone_, now) - now)
    shown = steering.now()
    if as_json:
        render.as_json(Now(shown))
    else:
        render.line(_words(shown, zone))


def _length(text: str) -> float:
    from orchestrator.api import read_duration

    try:
        return read_duration(text)
    except ValueError:
        raise UsageError(
            f"{text!r} is no length of time", where="--by", hint="write it like 90m, 24h or 1d12h"
        ) from None


def _next(text: str, zone: str, now: float) -> float:
    """Return when it is next so late there: as a night counts, which changes of clocks do not leave out."""
    from orchestrator.api import next_night, read_schedule

    found = _TIME.fullmatch(text)
    if found is None:
        raise UsageError(f"{text!r} is no time of day", where="--to", hint="write it like 02:00")
    return next_night(read_schedule({"cron": f"{int(found[2])} {int(found[1])} * * *", "timezone": zone}), now)


def _words(now: float, zone: ZoneInfo) -> str:
    return datetime.fromtimestamp(now, timezone.utc).astimezone(zone).strftime("%Y-%m-%d %H:%M:%S %Z, %A")
