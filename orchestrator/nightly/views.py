"""Schedules and their nights as they look from outside, with what is wrong with them: a night that never began, say."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from orchestrator.conductor.notes import Notes
from orchestrator.errors import Damaged, NewerVersion
from orchestrator.nightly.calendar import due, moment, next_night
from orchestrator.nightly.conduct import LATE_S, SILENT_S
from orchestrator.nightly.lost import why_lost
from orchestrator.spec.schedule.schedule import Query

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.conductor.step import End
    from orchestrator.errors import SweepError
    from orchestrator.nightly.dead_letters import DeadLetter
    from orchestrator.nightly.goal import Goal
    from orchestrator.nightly.schedules import Schedules
    from orchestrator.nightly.shelf import Entry, Night

NIGHTS = 30
"""Nights that a history shows, unless more are asked for."""


@dataclass(frozen=True)
class NightRow:
    """A night, as a listing shows it."""

    night: str
    state: str
    """`running`, `ended`, `missed` for one that nobody has begun, or `damaged` for one that cannot be understood."""
    began_at: float | None
    by: str
    exit: int | None
    why: str
    """What it came to; what it waits for, while it runs."""
    alarm: str = ""
    """What is wrong with it; empty if nothing is."""


@dataclass(frozen=True)
class ScheduleRow:
    """A schedule, as a listing shows it."""

    schedule: str
    workload: str
    cron: str
    timezone: str
    overlap: str
    retrain: str
    paused: bool
    next_at: float | None
    """When its next night is due; None while it is paused."""
    last: NightRow | None
    goal: str
    alarm: str
    """What is wrong with it; empty if nothing is."""
    undelivered: tuple[DeadLetter, ...] = ()
    """Its ticks that EventBridge Scheduler could not deliver, and that nobody was told of."""


def list_schedules(schedules: Schedules) -> list[ScheduleRow]:
    """Return a row for each schedule, by name. One that cannot be understood is noted, and left out."""
    rows, letters = [], schedules.undelivered()
    for name in schedules.shelf.names():
        try:
            rows.append(_schedule_row(schedules, name, letters))
        except (Damaged, NewerVersion) as error:
            schedules.leave_out(error)
    return rows


def show_schedule(schedules: Schedules, name: str) -> ScheduleRow:
    """Return the row of one schedule. UsageError if there is none of this name."""
    schedules.shelf.check_there(name)
    return _schedule_row(schedules, name, schedules.undelivered())


def _schedule_row(schedules: Schedules, name: str, letters: Iterable[DeadLetter]) -> ScheduleRow:
    entry = schedules.shelf.entry(name)
    goal, now = schedules.goal(entry), time.time()
    rows = history(schedules, name, 1)
    last = rows[0] if rows else None
    retrain = goal.when.retrain
    return ScheduleRow(
        schedule=name,
        workload=goal.sweep.name,
        cron=goal.when.cron,
        timezone=goal.when.timezone,
        overlap=goal.when.overlap,
        retrain=retrain.query if isinstance(retrain, Query) else retrain,
        paused=entry.paused,
        next_at=None if entry.paused else next_night(goal.when, now),
        last=last,
        goal=entry.goal,
        alarm=last.alarm if last else "",
        undelivered=tuple(letter for letter in letters if letter.schedule == name),
    )


def history(schedules: Schedules, name: str, count: int = NIGHTS) -> list[NightRow]:
    """Return the newest nights of a schedule, those that nobody has begun among them, the newest first."""
    entry = schedules.shelf.entry(name)
    damaged: list[tuple[str, SweepError]] = []
    nights = list(schedules.shelf.newest(name, count, lambda night, error: damaged.append((night, error))))
    rows = []
    for night in nights:
        try:
            rows.append((night.at, _row(schedules, night)))
        except (Damaged, NewerVersion) as error:
            damaged.append((night.id, error))
    try:
        rows += _missed(entry, schedules.goal(entry), set(schedules.shelf.nights(name)))
    except (Damaged, NewerVersion) as error:  # its nights are to be seen all the same
        schedules.leave_out(error)
    for night_id, damage in damaged:
        schedules.leave_out(damage)
        rows.append((_midnight(night_id), _damaged_row(night_id, damage)))
    return [row for _, row in sorted(rows, key=lambda each: each[0], reverse=True)][:count]


def _missed(entry: Entry, goal: Goal, begun: Iterable[str]) -> list[tuple[float, NightRow]]:
    """Return the nights that should have begun since the schedule was made or resumed, and have not."""
    if entry.paused:
        return []
    late = time.time() - LATE_S
    missed = [day for day in due(goal.when, entry.since, late) if day.isoformat() not in begun]
    return [(moment(goal.when, day), _missed_row(day.isoformat(), moment(goal.when, day))) for day in missed]


def _missed_row(night: str, at: float) -> NightRow:
    when = datetime.fromtimestamp(at, timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    alarm = f"the night {night} was due at {when}, and no conductor has begun it"
    return NightRow(night, "missed", None, "", None, "", alarm)


def _midnight(night: str) -> float:
    """Return when the day of a night began, for want of when the night did; 0 for a name that is no night's."""
    try:
        return datetime.fromisoformat(night[:10]).replace(tzinfo=timezone.utc).timestamp()
    except ValueError:
        return 0.0


def _damaged_row(night: str, error: SweepError, begun: Night | None = None) -> NightRow:
    alarm = f"the night {night} is left out: {error.where} {error.message}"
    return NightRow(night, "damaged", begun.at if begun else None, begun.by if begun else "", None, "", alarm)


def _row(schedules: Schedules, night: Night) -> NightRow:
    notes = Notes(schedules.s3, night.goal, night.instance)
    end: End | None = notes.ended()
    if end:
        alarm = f"the night {night.id} failed: {end.why}" if end.exit else ""
        return NightRow(night.id, "ended", night.at, night.by, end.exit, end.why, alarm)
    lost = why_lost(schedules.s3, night.schedule, night.id, night.goal)
    if lost:
        schedules.leave_out(lost)
        return _damaged_row(night.id, lost, night)
    try:
        alive = notes.alive()
    except (Damaged, NewerVersion) as error:
        schedules.leave_out(error)
        alive = None
    heard = max(night.at, alive.at if alive else 0.0)
    silent = time.time() - heard
    alarm = ""
    if silent > SILENT_S:
        alarm = f"no word of the conductor of {night.id} for {silent / 60:,.0f} min; the next tick takes it up"
    return NightRow(night.id, "running", night.at, night.by, None, alive.why if alive else "begun", alarm)
