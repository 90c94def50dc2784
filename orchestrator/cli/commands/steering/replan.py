"""`sweep replan`: tasks that have not been started go where it is cheaper today."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from orchestrator.cli import formatting, render
from orchestrator.cli.confirm import confirm
from orchestrator.cli.errors import Interrupted
from orchestrator.cli.options import AsJson, RunName, Yes
from orchestrator.cli.session import Session

if TYPE_CHECKING:
    from orchestrator.api import Moved, Proposal, Run


@dataclass(frozen=True)
class Moves:
    """A number of tasks that go from one lane to another."""

    origin: str
    target: str
    tasks: int


@dataclass(frozen=True)
class Replanned:
    """A new plan for the tasks of a run that have not been started, and what came of it, as JSON shows it."""

    run: str
    waiting: int
    """Tasks that have not been started."""
    moves: tuple[Moves, ...]
    stay_usd: float
    """Dollars that they cost where they are, at today's prices."""
    usd: float
    """Dollars that they cost if these move, new copies of data included."""
    copies_usd: float
    saves_usd: float
    least_usd: float
    """Dollars that moving must save to be worth it, where it is not for time."""
    why: str
    """Why they should move; empty if they should stay."""
    submission: int = 0
    """The submission that has moved them; 0 if nothing was moved."""
    moved: str = ""
    started: str = ""
    """Tasks that were started meanwhile, and stay."""


COLUMNS: list[render.Column[Moves]] = [
    render.Column("from", lambda move: move.origin),
    render.Column("to", lambda move: move.target),
    render.Column("tasks", lambda move: move.tasks, "{:,}".format, right=True),
]


def replan(context: typer.Context, run: RunName = None, yes: Yes = False, as_json: AsJson = False) -> None:
    """Move tasks that have not been started to where it is cheaper today.

    Plans them anew by today's prices, slots and refusals, within what is left of deadline, budget and slots. Shows what
    would move and what that saves, and asks. Without a terminal it moves nothing, unless --yes says so. What saves too
    little stays where it is.

    Example: sweep replan nightly --yes
    """
    orchestrator = Session.of(context).orchestrator
    opened = orchestrator.run(run)
    found = orchestrator.propose(opened)
    if found is None:
        _tell_nothing(opened.name, as_json=as_json)
        return
    if not found.why:
        if as_json:
            render.as_json(_replanned(opened.name, found))
        else:
            render.line(_why_stay(opened.name, found))
        return
    _show(opened.name, found, as_json=as_json)
    if not yes and not (sys.stdin.isatty() and render.is_terminal(sys.stderr)):
        if as_json:
            render.as_json(_replanned(opened.name, found))
        render.say("nothing was moved: --yes moves them")
        return
    confirm(_question(found), yes=yes)
    moved = _move(opened, found)
    if as_json:
        render.as_json(_replanned(opened.name, found, moved))
    elif moved.tasks:
        done = "moved" if _moving(found) == len(found.planned.tasks) else "sent anew"
        render.line(f"{opened.name}: {formatting.plural(len(moved.tasks), 'task')} {done}: {moved.tasks}")
    if moved.started:
        stay = "stays" if len(moved.started) == 1 else "stay"
        render.say(f"{formatting.plural(len(moved.started), 'task')} started meanwhile, and {stay}: {moved.started}")


def _question(found: Proposal) -> str:
    """Ask for what is sent: with a budget those that stay, too, for the envelopes of all are dealt out anew."""
    moving, sent = _moving(found), len(found.planned.tasks)
    if moving == sent:
        return f"Move {formatting.plural(sent, 'task')}?"
    return f"Send {formatting.plural(sent, 'task')} anew, {moving:,} of them elsewhere?"


def _moving(found: Proposal) -> int:
    """Return how many tasks go elsewhere."""
    return sum(move.tasks for move in found.moves)


def _moves(found: Proposal) -> list[Moves]:
    """Return what goes where. Several platforms may have the same instance type: then they are named, too."""
    lots = {lot for move in found.moves for lot in (move.origin, move.target)}
    mixed = len({lot.lane.platform for lot in lots}) > 1
    names = {lot: f"{lot.lane.platform} {lot}" if mixed else str(lot) for lot in lots}
    return [Moves(names[move.origin], names[move.target], move.tasks) for move in found.moves]


def _move(run: Run, found: Proposal) -> Moved:
    try:
        return run.replan(found)
    except KeyboardInterrupt as error:
        raise Interrupted("a part may have been submitted", hint="the same command again completes it") from error


def _tell_nothing(name: str, *, as_json: bool) -> None:
    if as_json:
        render.as_json(Replanned(name, 0, (), 0.0, 0.0, 0.0, 0.0, 0.0, ""))
    else:
        render.line(f"{name}: no task waits to be started")


def _why_stay(name: str, found: Proposal) -> str:
    """Say in one line why the tasks stay."""
    waiting = formatting.plural(len(found.unstarted.tasks), "task")
    stay = f"{name}: {waiting} not started stay where they are"
    moving = _moving(found)
    if not moving:
        return f"{stay}: no other place is better today"
    if found.fastest:
        return f"{stay}: moving {moving:,} would end {_sooner(found)}, and less than 5 % sooner is not worth it"
    if found.saves <= 0:
        return f"{stay}: moving {moving:,} would save nothing"
    saved = f"${found.saves:,.2f} of ${found.stay_usd:,.2f}"
    return f"{stay}: moving {moving:,} would save {saved}, and less than ${found.least:,.2f} (5 %) is not worth it"


def _sooner(found: Proposal) -> str:
    return f"in {formatting.hours(found.hours)} and not in {formatting.hours(found.stay_hours)}"


def _show(name: str, found: Proposal, *, as_json: bool) -> None:
    """Show what would move, and why; with JSON, to where people look."""
    stream = sys.stderr if as_json else sys.stdout
    render.as_table(_moves(found), COLUMNS, stream)
    copies = f", {formatting.money(found.copies_usd)} of that for copies of data" if found.planned.copies else ""
    # What cannot be had any more has no price.
    there = "" if found.lost else f"{formatting.money(found.stay_usd)} where they are, and "
    words = f"{name}: {formatting.plural(len(found.unstarted.tasks), 'task')} not started cost {there}"
    render.write(f"{words}{formatting.money(found.usd)} so{copies}. They should move: {found.why}.\n", stream)
    if found.unstarted.ran_before:
        render.say(f"note: tasks that wait to be run again stay: {found.unstarted.ran_before}")


def _replanned(name: str, found: Proposal, moved: Moved | None = None) -> Replanned:
    return Replanned(
        run=name,
        waiting=len(found.unstarted.tasks),
        moves=tuple(_moves(found)),
        stay_usd=found.stay_usd,
        usd=found.usd,
        copies_usd=found.copies_usd,
        saves_usd=found.saves,
        least_usd=found.least,
        why=found.why,
        submission=moved.submission if moved else 0,
        moved=str(moved.tasks) if moved else "",
        started=str(moved.started) if moved else "",
    )
