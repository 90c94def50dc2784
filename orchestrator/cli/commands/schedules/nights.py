"""`sweep schedule run-now`, `tick` and `history`: nights, begun by hand or looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import formatting, render
from orchestrator.cli.options import AsJson
from orchestrator.cli.render import Column
from orchestrator.cli.session import Session

if TYPE_CHECKING:
    from orchestrator.api import Conducted, NightRow

Name = Annotated[str, typer.Argument(metavar="NAME", help="A schedule's name.")]


@dataclass(frozen=True)
class Begun:
    """A night as JSON tells of it."""

    schedule: str
    night: str
    job: str | None
    exit: int | None
    why: str


def run_now(
    context: typer.Context,
    name: Name,
    force: Annotated[bool, typer.Option("--force", help="Train everything, whatever was trained.")] = False,
    here: Annotated[bool, typer.Option("--here", help="Conduct it here, and stay until it has ended.")] = False,
    as_json: AsJson = False,
) -> None:
    """Begin a night now, beside those of its times.

    A Batch job conducts it; with --here this process does, on the catalog of these settings.

    Example: sweep schedule run-now nightly --here
    """
    schedules = Session.of(context).schedules
    night = schedules.run_now(name, force=force)
    if here:
        done = schedules.conduct(night)
        _tell(name, done, as_json=as_json)
        if done.end.exit:
            raise typer.Exit(done.end.exit)
        return
    job = schedules.send(night)
    if as_json:
        render.as_json(Begun(name, night.id, job, None, ""))
    else:
        render.line(night.id)
        render.say(f"begun by the Batch job {job}: `sweep schedule history {name}` shows how it goes")


def tick(context: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Conduct here what is due of a schedule, and what was given up: what its Batch job does at each tick.

    A timer of your own may call it instead of EventBridge Scheduler.

    Example: sweep schedule tick nightly
    """
    worst, nights = 0, 0
    for done in Session.of(context).schedules.tick(name):
        _tell(name, done, as_json=as_json)
        worst, nights = max(worst, done.end.exit), nights + 1
    if not nights:
        render.say("nothing is due")
    if worst:
        raise typer.Exit(worst)


def _tell(name: str, done: Conducted, *, as_json: bool) -> None:
    """Show how a night ended."""
    if as_json:
        render.as_json(Begun(name, done.night, None, done.end.exit, done.end.why))
    else:
        render.line(f"{name} {done.night}: {done.end.why}")


def history(
    context: typer.Context,
    name: Name,
    nights: Annotated[int, typer.Option(metavar="N", min=1, help="The newest so many.")] = 30,
    as_json: AsJson = False,
) -> None:
    """Show a schedule's nights, those that nobody has begun among them, the newest first.

    Example: sweep schedule history nightly
    """
    from orchestrator.api import night_history

    rows = night_history(Session.of(context).schedules, name, nights)
    if as_json:
        render.as_json(rows)
    elif rows:
        render.as_table(rows, COLUMNS)
    else:
        render.say("no night yet")


COLUMNS: tuple[Column[NightRow], ...] = (
    Column("night", lambda row: row.night),
    Column("state", lambda row: row.state),
    Column("began", lambda row: "" if row.began_at is None else formatting.moment(row.began_at)),
    Column("exit", lambda row: "" if row.exit is None else str(row.exit), right=True),
    Column("what", lambda row: row.alarm or row.why),
)
