"""What a schedule is to be: what the file says of it, and what options say instead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.errors import Damaged, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.api import Frozen, Schedule
    from orchestrator.cli.session import Session


@dataclass(frozen=True)
class Asked:
    """What options say of a schedule; None where they say nothing."""

    cron: str | None
    timezone: str | None
    overlap: str | None
    retrain: str | None


def freeze_asked(session: Session, file: Path, name: str | None, given: Asked, *, update: bool = False) -> Frozen:
    """Return what nights would do. An update of a file that says nothing of its schedule keeps what there is."""
    from orchestrator.api import freeze

    sweep = session.read_sweep(file)
    there = sweep.schedule
    if update and there is None:
        there = _times_so_far(session, name or sweep.name, given)
    return freeze(session.orchestrator, sweep, _schedule(there, file, given), name or sweep.name)


def _times_so_far(session: Session, name: str, given: Asked) -> Schedule | None:
    """Return when it runs by now. Where that cannot be understood, an option has to say it."""
    schedules = session.schedules
    try:
        return schedules.goal(schedules.shelf.entry(name)).when
    except Damaged as error:
        if given.cron is not None:
            return None
        hint = "--cron and --timezone say anew when it is to run"
        raise Damaged(error.message, where=error.where, hint=hint) from error


def _schedule(there: Schedule | None, file: Path, given: Asked) -> Schedule:
    """Return the schedule that is there, with what the options say instead. UsageError for what is wrong or missing."""
    from orchestrator.api import read_schedule

    said = dict(there.model_dump(mode="json")) if there else {}
    said |= {name: value for name, value in vars(given).items() if value is not None and name != "retrain"}
    if given.retrain is not None:
        said["retrain"] = {"query": given.retrain} if given.retrain.endswith(".sql") else given.retrain
    if "cron" not in said:
        hint = 'give --cron "0 2 * * *", or write `schedule: {cron: "0 2 * * *"}` in the file'
        raise UsageError("says not when it is to run", where=str(file), hint=hint)
    return read_schedule(said)
