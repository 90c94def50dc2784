"""`sweep schedule`: a workload is trained again by itself, on what is new."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import formatting, render
from orchestrator.cli.commands.schedules.asked import Asked, freeze_asked
from orchestrator.cli.commands.schedules.nights import history, run_now, tick
from orchestrator.cli.confirm import confirm
from orchestrator.cli.options import AsJson, Yes
from orchestrator.cli.render import Column
from orchestrator.cli.session import Session
from orchestrator.errors import UsageError

if TYPE_CHECKING:
    from orchestrator.api import Schedule, ScheduleRow, Sweep

app = typer.Typer(help="Train a workload again by itself, on what is new.", rich_markup_mode=None)


@dataclass(frozen=True)
class Standing:
    """What has become of a schedule, as JSON shows it."""

    schedule: str
    state: str


SweepFile = Annotated[Path, typer.Argument(metavar="FILE", help="A sweep.yaml.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="A schedule's name.")]
NewName = Annotated[
    str | None, typer.Option(metavar="NAME", help="The schedule's name; without one, the sweep's.", show_default=False)
]
Cron = Annotated[
    str | None, typer.Option(metavar="CRON", help='Such as "0 2 * * *"; without it, `schedule.cron` of the file.')
]
Zone = Annotated[str | None, typer.Option(metavar="ZONE", help="Such as Europe/Berlin; UTC unless the file says.")]
Overlap = Annotated[
    str | None, typer.Option(metavar="skip|queue|replace", help="What a night does while an earlier one runs.")
]
Retrain = Annotated[str | None, typer.Option(metavar="changed|all|FILE.sql", help="What a night trains.")]


@dataclass(frozen=True)
class Scheduled:
    """A schedule as JSON tells of it."""

    schedule: str
    goal: str
    paused: bool
    changed: list[str]


@app.command()
def create(
    context: typer.Context,
    file: SweepFile,
    name: NewName = None,
    cron: Cron = None,
    timezone: Zone = None,
    overlap: Overlap = None,
    retrain: Retrain = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Let a sweep run by itself: once a night, on what this workload has not trained yet.

    What runs is frozen now, by its hash: the file, the code, the settings. EventBridge Scheduler starts a small Batch
    job, and nobody's own machine is needed. Interrupted at any point, the same command again completes it.

    Example: sweep schedule create sweep.yaml --cron "0 2 * * *" --timezone Europe/Berlin
    """
    session = Session.of(context)
    frozen = freeze_asked(session, file, name, Asked(cron, timezone, overlap, retrain))
    goal = frozen.goal
    session.schedules.check_free(goal)
    render.say(f"{goal.schedule}: {goal.when.cron} {goal.when.timezone}, trains {_what(goal.when)}, {goal.digest}")
    _say_what_it_plans_on(session, goal.database)
    _warn_if_it_cannot_be_planned(session, goal.sweep)
    for other in session.schedules.others_of(goal):
        render.say(f"note: {other} trains {goal.sweep.name}, too: {_beside(goal.when)}")
    _note_if_nothing_is_promoted(goal.sweep)
    confirm(f"Create the schedule {goal.schedule}?", yes=yes)
    entry = session.schedules.create(frozen)
    if as_json:
        render.as_json(Scheduled(entry.name, entry.goal, entry.paused, []))
    else:
        render.line(entry.name)
        render.say(f"created: `sweep schedule show {entry.name}` shows when its next night is")


@app.command()
def update(
    context: typer.Context,
    file: SweepFile,
    name: NewName = None,
    cron: Cron = None,
    timezone: Zone = None,
    overlap: Overlap = None,
    retrain: Retrain = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Show what changes of a schedule, and change it from its next night on.

    What runs goes on as it was begun.

    Example: sweep schedule update sweep.yaml
    """
    session = Session.of(context)
    schedules = session.schedules
    frozen = freeze_asked(session, file, name, Asked(cron, timezone, overlap, retrain), update=True)
    changes = schedules.changes(frozen)
    for line in changes:
        render.say(line)
    _note_if_nothing_is_promoted(frozen.goal.sweep)
    if changes:
        confirm(f"Change the schedule {frozen.goal.schedule}?", yes=yes)
    entry = schedules.update(frozen)
    if as_json:
        render.as_json(Scheduled(entry.name, entry.goal, entry.paused, changes))
    elif changes:
        render.say(f"changed: {entry.goal}")
    else:
        render.say("nothing changes")


@app.command("list")
def list_all(context: typer.Context, as_json: AsJson = False) -> None:
    """List the schedules: when each is due next, how its last night ended, and what is wrong.

    Example: sweep schedule list
    """
    from orchestrator.api import list_schedules

    session = Session.of(context)
    rows = list_schedules(session.schedules)
    if as_json:
        render.as_json(rows)
    elif rows:
        render.as_table(rows, COLUMNS)
        _say_alarms(rows)
    else:
        session.check_damage()
        render.say("no schedules yet: `sweep schedule create` makes one")


@app.command()
def show(context: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Show one schedule, and whether EventBridge Scheduler starts it.

    Example: sweep schedule show nightly
    """
    from orchestrator.api import show_schedule

    schedules = Session.of(context).schedules
    row = show_schedule(schedules, name)
    armed = schedules.is_armed(schedules.shelf.entry(name))
    if as_json:
        render.as_json({**vars(row), "armed": armed})
        return
    render.line(f"{row.schedule}: {row.cron} {row.timezone}, workload {row.workload}, goal {row.goal}")
    render.line(f"trains {row.retrain}; overlap: {row.overlap}")
    render.line(f"next night: {_next(row)}")
    if row.last:
        render.line(f"last night: {row.last.night}, {row.last.state}{f': {row.last.why}' if row.last.why else ''}")
    _say_alarms([row])
    if not armed and not row.paused:
        render.say("alarm: EventBridge Scheduler does not start it; `sweep schedule update` sets its timers again")


@app.command()
def pause(context: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Begin no more nights. What runs goes on.

    Example: sweep schedule pause nightly
    """
    Session.of(context).schedules.pause(name)
    _tell_state(Standing(name, "paused"), f": `sweep schedule resume {name}` goes on with the next night", as_json)


@app.command()
def resume(context: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Begin nights again, with the next that is due.

    Example: sweep schedule resume nightly
    """
    Session.of(context).schedules.resume(name)
    _tell_state(Standing(name, "resumed"), "", as_json)


@app.command()
def delete(context: typer.Context, name: Name, yes: Yes = False, as_json: AsJson = False) -> None:
    """Take a schedule away. Its runs, their results, and what it has trained stay.

    Example: sweep schedule delete nightly
    """
    schedules = Session.of(context).schedules
    schedules.shelf.check_there(name)
    confirm(f"Delete the schedule {name}?", yes=yes)
    schedules.delete(name)
    _tell_state(Standing(name, "deleted"), "", as_json)


def _tell_state(now: Standing, more: str, as_json: bool) -> None:
    if as_json:
        render.as_json(now)
    else:
        render.say(f"{now.state}{more}")


app.command("run-now")(run_now)
app.command()(history)
app.command()(tick)


def _what(when: Schedule) -> str:
    retrain = when.retrain
    if retrain == "changed":
        return "what is new"
    return "everything" if retrain == "all" else f"what {retrain.query} names"


def _beside(when: Schedule) -> str:
    """Return what a night does about what another schedule's night trains just then."""
    if when.retrain != "changed":
        return "a night trains everything, whatever the other trains just then"
    if when.overlap == "skip":
        return "a night leaves out what the other trains just then"
    return "a night waits while the other trains the same, and then looks anew"


def _note_if_nothing_is_promoted(sweep: Sweep) -> None:
    if sweep.objective and not sweep.promote:
        render.say("note: nothing is promoted: the file has an objective and no `promote:` (`promote: {}` goes by it)")


def _say_what_it_plans_on(session: Session, database: str) -> None:
    if database:
        render.say("it plans on the shared database of these settings")
        return
    newest = session.orchestrator.snapshots.newest()
    if newest is None:
        hint = "`sweep catalog push` writes one; do so whenever the catalog has changed"
        raise UsageError("the conductor has no catalog to plan on: none was pushed", hint=hint)
    render.say(f"it plans on the newest pushed catalog: now that of {formatting.moment(newest.pushed_at)}")


def _warn_if_it_cannot_be_planned(session: Session, sweep: Sweep) -> None:
    """Say what a night would end with now. The data of the first night may still be to come, so it is no error."""
    try:
        session.orchestrator.plan(sweep)
    except UsageError as error:
        render.say(f"warning: by the catalog as it is here, a night cannot be planned: {error.message}")


def _next(row: ScheduleRow) -> str:
    return "paused" if row.next_at is None else formatting.zoned_moment(row.next_at)


def _say_alarms(rows: list[ScheduleRow]) -> None:
    for row in rows:
        if row.alarm:
            render.say(f"alarm: {row.schedule}: {row.alarm}")
        for letter in row.undelivered:
            render.say(f"alarm: {row.schedule}: {letter.words}")


COLUMNS: tuple[Column[ScheduleRow], ...] = (
    Column("schedule", lambda row: row.schedule),
    Column("when", lambda row: f"{row.cron} {row.timezone}"),
    Column("next", _next),
    Column("last", lambda row: row.last.night if row.last else ""),
    Column("how", lambda row: (row.last.why or row.last.state) if row.last else ""),
    Column("alarm", lambda row: "alarm" if row.alarm or row.undelivered else ""),
)
