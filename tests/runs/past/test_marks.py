"""Pins hold until they are taken away, and nothing that was said is deleted; in SQLite and PostgreSQL."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from orchestrator.db.engine import reading
from orchestrator.db.history_tables import learned_marks
from orchestrator.runs.past.marks import EVERY, Subject, What, forget, forgotten, pin, pins, unpin
from tests.runs.past.history import SPOT

if TYPE_CHECKING:
    from tests.runs.past.history import Past

PRICE = Subject(What.PRICE, str(SPOT))
MONDAY = datetime(2026, 11, 16, 12, tzinfo=timezone.utc)


def test_the_newest_pin_of_each_subject_holds_until_it_is_taken_away(past: Past) -> None:
    engine = past.ledger.engine
    other = Subject(What.RUNTIME, "ml.g5.xlarge", "nightly")
    pin(engine, PRICE, 0.4, "anna", MONDAY)
    pin(engine, other, 2.0, "ben", MONDAY)
    pin(engine, PRICE, 0.5, "ben", MONDAY + timedelta(hours=1))
    with reading(engine) as connection:
        assert [(one.subject, one.value, one.by) for one in pins(connection)] == [
            (PRICE, 0.5, "ben"),
            (other, 2.0, "ben"),
        ]
    assert unpin(engine, PRICE, "anna", MONDAY + timedelta(hours=2))
    assert not unpin(engine, PRICE, "anna", MONDAY + timedelta(hours=3))
    with reading(engine) as connection:
        assert [one.subject for one in pins(connection)] == [other]
        assert connection.scalar(select(func.count()).select_from(learned_marks)) == 4


def test_forgetting_is_by_kind_and_workload_and_the_newest_counts(past: Past) -> None:
    engine = past.ledger.engine
    forget(engine, PRICE, "anna", MONDAY)
    forget(engine, PRICE, "anna", MONDAY + timedelta(hours=1))
    forget(engine, Subject(What.RUNTIME, EVERY, "weekly"), "anna", MONDAY)
    with reading(engine) as connection:
        assert forgotten(connection, What.PRICE) == {str(SPOT): (MONDAY + timedelta(hours=1)).timestamp()}
        assert forgotten(connection, What.RUNTIME, "nightly") == {}
        assert forgotten(connection, What.RUNTIME, "weekly") == {EVERY: MONDAY.timestamp()}
