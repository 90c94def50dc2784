"""Slots that live runs hold, so that no two plans count on the same ones.

A lease is taken before a run is made, in one transaction with the look at what is free; it shrinks as the run's tasks
end, and is gone when they have. Should nobody sync the run any more, it expires: when the last of its tasks must have
run out of time.
"""

from __future__ import annotations

import time
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, select, text

from orchestrator.db.engine import reading, writing
from orchestrator.db.tables import leases, runs
from orchestrator.db.upsert import insert_missing
from orchestrator.plan.slots import Quota, slots_taken, tasks_by_quota
from orchestrator.runs.ledger import row
from orchestrator.wire.ranges import Ranges

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlalchemy import Connection

    from orchestrator.plan.plan import Plan
    from orchestrator.runs.anchor import Anchor
    from orchestrator.runs.cloud import Account
    from orchestrator.runs.ledger import Ledger


class Booking:
    """The right to take slots: while one is open, nobody else may, so what is free stays free until it is taken."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def take(self, anchor: Anchor, account: Account) -> None:
        """Note the run in the database, with all slots that its plan takes."""
        insert_missing(self._connection, runs, [row(anchor, account)])
        _take(self._connection, anchor, tasks_by_quota(anchor.plan))


@contextmanager
def booking(ledger: Ledger) -> Iterator[Booking]:
    """Open a booking. Whoever else wants to take slots waits until it is closed; an error undoes what it took."""
    with writing(ledger.engine) as connection:
        if ledger.engine.dialect.name != "sqlite":  # SQLite lets nobody else write anyway
            connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('sweep leases'))"))
        yield Booking(connection)


def renew(anchor: Anchor, ledger: Ledger) -> None:
    """Hold the slots of those tasks that have not ended, and no more."""
    left = _left(anchor, ledger)
    if left or held(anchor.name, ledger):
        with writing(ledger.engine) as connection:
            connection.execute(delete(leases).where(leases.c.run == anchor.name))
            _take(connection, anchor, left)


def held(run: str, ledger: Ledger) -> int:
    """Return how many slots the run holds, in all lanes."""
    with reading(ledger.engine) as connection:
        return connection.scalar(select(func.sum(leases.c.slots)).where(leases.c.run == run)) or 0


def _left(anchor: Anchor, ledger: Ledger) -> dict[Quota, int]:
    """Return how many tasks have not ended, by the slots of their first choice; only where there are some."""
    spans: dict[Quota, list[tuple[int, int]]] = defaultdict(list)
    for share in anchor.plan.shares:
        spans[Quota.of(share.places[0])].append((share.first, share.first + share.count))
    tasks = {quota: Ranges.in_order(its) for quota, its in spans.items()}
    left = {quota: len(its) - ledger.ended(anchor.name, its) for quota, its in tasks.items()}
    return {quota: count for quota, count in left.items() if count > 0}


def _take(connection: Connection, anchor: Anchor, tasks: Mapping[Quota, int]) -> None:
    plan, now = anchor.plan, time.time()
    lives = _lives(plan)
    rows: list[dict[str, Any]] = [
        {
            "run": anchor.name,
            "platform": quota.lane.platform,
            "region": quota.lane.region,
            "instance_type": quota.lane.instance_type,
            "purchase": quota.lane.purchase.value,
            "arn": quota.arn,
            "slots": slots,
            # As many rounds as it takes, each of them as long as it may be.
            "expires_at": now + -(-tasks[quota] * plan.sweep.train.instances // slots) * lives[quota],
        }
        for quota, slots in slots_taken(plan, tasks).items()
        if slots
    ]
    insert_missing(connection, leases, rows)


def _lives(plan: Plan) -> dict[Quota, int]:
    """Return the most seconds that one task may wait and run at its first choice, by whose slots it takes."""
    lives: dict[Quota, int] = defaultdict(int)
    for share in plan.shares:
        quota, limits = Quota.of(share.places[0]), share.limits
        lives[quota] = max(lives[quota], limits.max_runtime_s + limits.patience_s, limits.max_wait_s)
    return lives
