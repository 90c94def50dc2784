"""What a person has said of what is learned: pins, and moments before which nothing counts. Rows are only added."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from sqlalchemy import insert, or_, select, true

from orchestrator.db.engine import reading, writing
from orchestrator.db.history_tables import learned_marks
from orchestrator.wire.task import Lane

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection, Engine, Table

EVERY = "*"
"""Stands for every lane, or for every instance type."""


class What(str, Enum):
    """A kind of what is learned."""

    RUNTIME = "runtime"
    PRICE = "price"
    INTERRUPTIONS = "interruptions"
    WAITING = "waiting"
    START = "start"


@dataclass(frozen=True)
class Subject:
    """What is spoken of: a kind, and the lane that it is of; or a workload and an instance type, of a runtime."""

    what: What
    place: str
    """A lane, an instance type, or EVERY."""
    workload: str = ""
    """Whose runtime it is; empty of all else."""


@dataclass(frozen=True)
class Pin:
    """A value that a person has set, whatever is learned."""

    subject: Subject
    value: float
    """Hours of a runtime, a wait or a start; dollars an hour; interruptions an hour."""
    by: str
    at: datetime


def pin(engine: Engine, subject: Subject, value: float, by: str, at: datetime) -> None:
    """Set a value, from now on and until it is unpinned."""
    _add(engine, subject, "pin", by, at, value)


def unpin(engine: Engine, subject: Subject, by: str, at: datetime) -> bool:
    """Take a pin away. Return False if there is none."""
    with reading(engine) as connection:
        if subject not in {one.subject for one in pins(connection)}:
            return False
    _add(engine, subject, "unpin", by, at)
    return True


def forget(engine: Engine, subject: Subject, by: str, at: datetime) -> None:
    """Let nothing count that was observed before this moment. It stays in the database."""
    _add(engine, subject, "forget", by, at)


def pins(connection: Connection) -> list[Pin]:
    """Return the pins that hold, in the order of what they are of."""
    newest: dict[Subject, Pin | None] = {}
    said = select(learned_marks).where(learned_marks.c.mark != "forget").order_by(learned_marks.c.said_at)
    for row in connection.execute(said):
        subject = Subject(What(row.what), row.place, row.workload)
        newest[subject] = Pin(subject, row.value, row.said_by, row.said_at) if row.mark == "pin" else None
    held = [one for one in newest.values() if one is not None]
    return sorted(held, key=lambda one: (one.subject.what.value, one.subject.workload, one.subject.place))


def forgotten(connection: Connection, what: What, workload: str = "") -> dict[str, float]:
    """Return for each place, or for EVERY, the moment before which observations of this kind do not count."""
    said = select(learned_marks.c.place, learned_marks.c.said_at).where(
        learned_marks.c.mark == "forget", learned_marks.c.what == what.value, learned_marks.c.workload == workload
    )
    found: dict[str, float] = {}
    for place, at in connection.execute(said.order_by(learned_marks.c.said_at)):
        found[place] = at.timestamp()
    return found


def still_counts(
    marks: dict[str, float], table: Table, moment: ColumnElement[float], columns: tuple[str, ...]
) -> ColumnElement[bool]:
    """Return the condition for a row of a table to be newer than what was forgotten of its place.

    `columns` name the parts of a place, which a place of a mark has in this order, with slashes between.
    """
    found: ColumnElement[bool] = true()
    for place, at in sorted(marks.items()):
        newer = moment > at
        if place == EVERY:
            found &= newer
            continue
        parts = zip(columns, _parts(place, len(columns)), strict=True)
        found &= or_(newer, *(table.c[name] != part for name, part in parts))
    return found


def _parts(place: str, count: int) -> list[str]:
    """Return the parts of a lane's name, or of the instance type alone, which may hold slashes of its own."""
    if count == 1:
        return [place]
    lane = Lane.parse(place)
    return [lane.platform, lane.region, lane.instance_type, lane.purchase.value]


def _add(engine: Engine, subject: Subject, mark: str, by: str, at: datetime, value: float | None = None) -> None:
    row = {"what": subject.what.value, "workload": subject.workload, "place": subject.place, "said_at": at}
    with writing(engine) as connection:
        connection.execute(insert(learned_marks), [{**row, "mark": mark, "value": value, "said_by": by}])
