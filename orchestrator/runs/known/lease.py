"""The units of quotas that live runs hold, so that no two plans count on the same ones.

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
from orchestrator.errors import Refused
from orchestrator.plan.slots import LotKey, instances_taken, lots_by_key, tasks_by_lot, units_taken
from orchestrator.runs.known.noting import row_of_run
from orchestrator.runs.written.plan_now import planned_now
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.task import Quota

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlalchemy import Connection

    from orchestrator.plan.plan import Plan
    from orchestrator.runs.cloud import Account
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.written.anchor import Anchor


NOTED_S = 600.0
"""Seconds for which a run holds its slots before it is made."""


class Booking:
    """The right to take leases: while one is open, nobody else may, so what is free stays free until it is taken."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def take(self, anchor: Anchor, account: Account) -> None:
        """Note the run in the database, with all that its plan takes. What was noted of that name before goes.

        Until the run is made, which takes a moment, it holds them for a moment only: its submit may be killed.
        """
        self._connection.execute(delete(runs).where(runs.c.name == anchor.name))
        insert_missing(self._connection, runs, [row_of_run(anchor, account)])
        _take(self._connection, anchor, tasks_by_lot(anchor.plan), NOTED_S)

    def exchange(self, anchor: Anchor, ledger: Ledger) -> None:
        """Hold what the tasks of a run use that have not ended, as its plan says now, instead of what it held.

        Refused if a quota has not so many units for it, beside what other runs hold.
        """
        left = _left(anchor, ledger)
        self._check_free(anchor, units_taken(anchor.plan, left))
        self._connection.execute(delete(leases).where(leases.c.run == anchor.name))
        _take(self._connection, anchor, left)

    def _check_free(self, anchor: Anchor, wanted: Mapping[Quota, int]) -> None:
        others = (leases.c.run != anchor.name) & (leases.c.expires_at > time.time())
        key = (leases.c.platform, leases.c.region, leases.c.quota)
        query = select(*key, func.sum(leases.c.units)).where(others).group_by(*key)
        taken = {Quota(*where): int(units) for *where, units in self._connection.execute(query)}
        for fact in anchor.plan.quotas:
            free = max(fact.units - taken.get(fact.quota, 0), 0)
            if free < wanted.get(fact.quota, 0):
                why = f"{fact.quota} has {free} of {fact.units} units free, and the new plan takes {wanted[fact.quota]}"
                raise Refused(why, hint="the same command again plans with what is free now")


@contextmanager
def booking(ledger: Ledger) -> Iterator[Booking]:
    """Open a booking. Whoever else wants to take leases waits until it is closed; an error undoes what it took."""
    with writing(ledger.engine) as connection:
        if ledger.engine.dialect.name != "sqlite":  # SQLite lets nobody else write anyway
            connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('sweep leases'))"))
        yield Booking(connection)


def renew(anchor: Anchor, ledger: Ledger) -> None:
    """Hold what those tasks use that have not ended, and no more."""
    anchor = planned_now(anchor, ledger.submissions(anchor.name))
    left = _left(anchor, ledger)
    if left or held(anchor.name, ledger):
        with writing(ledger.engine) as connection:
            connection.execute(delete(leases).where(leases.c.run == anchor.name))
            _take(connection, anchor, left)


def holds(run: str, ledger: Ledger) -> bool:
    """Return whether nothing that the run took has expired."""
    query = select(func.min(leases.c.expires_at)).where(leases.c.run == run)
    with reading(ledger.engine) as connection:
        first: float | None = connection.scalar(query)
    return first is None or first > time.time()


def held(run: str, ledger: Ledger) -> dict[Quota, int]:
    """Return the units of each quota that the run holds."""
    query = select(leases.c.platform, leases.c.region, leases.c.quota, leases.c.units).where(leases.c.run == run)
    with reading(ledger.engine) as connection:
        return {Quota(*key): units for *key, units in connection.execute(query)}


def _left(anchor: Anchor, ledger: Ledger) -> dict[LotKey, dict[int, int]]:
    """Return how many tasks have not ended, by the lot of their first choice and by their instances."""
    spans: dict[tuple[LotKey, int], list[tuple[int, int]]] = defaultdict(list)
    for share in anchor.plan.shares:
        key = (LotKey.of(share.places[0]), share.instances)
        spans[key].append((share.first, share.first + share.count))
    left: defaultdict[LotKey, dict[int, int]] = defaultdict(dict)
    for (lot, instances), its in spans.items():
        tasks = Ranges.in_order(its)
        count = len(tasks) - ledger.ended(anchor.name, tasks)
        if count > 0:
            left[lot][instances] = count
    return dict(left)


def _take(
    connection: Connection, anchor: Anchor, tasks: Mapping[LotKey, Mapping[int, int]], seconds: float = float("inf")
) -> None:
    """Write what so many tasks hold of each quota at once, for so long at the most. `tasks_by_lot` counts them so."""
    until, at_most = _expiry(anchor.plan, tasks), time.time() + seconds
    rows: list[dict[str, Any]] = [
        {
            "run": anchor.name,
            "platform": quota.platform,
            "region": quota.region,
            "quota": quota.name,
            "units": units,
            "expires_at": min(until[quota], at_most),
        }
        for quota, units in units_taken(anchor.plan, tasks).items()
        if units
    ]
    insert_missing(connection, leases, rows)


def _expiry(plan: Plan, tasks: Mapping[LotKey, Mapping[int, int]]) -> dict[Quota, float]:
    """Return for each quota the moment at which the last of these tasks must have run out of time."""
    now, lives, lots = time.time(), _lives(plan), lots_by_key(plan)
    until: defaultdict[Quota, float] = defaultdict(float)
    for key, instances in instances_taken(plan, tasks).items():
        # As many rounds as it takes, each of them as long as it may be.
        at_once = max(instances // max(tasks[key]), 1)
        rounds = -(-sum(tasks[key].values()) // at_once)
        for quota in lots[key].quotas if key in lots else ():
            until[quota] = max(until[quota], now + rounds * lives[key])
    return until


def _lives(plan: Plan) -> dict[LotKey, int]:
    """Return the most seconds that one task may wait and run at its first choice, by whose instances it takes."""
    lives: dict[LotKey, int] = defaultdict(int)
    for share in plan.shares:
        key, limits = LotKey.of(share.places[0]), share.limits
        lives[key] = max(lives[key], limits.max_runtime_s + limits.patience_s, limits.max_wait_s)
    return lives
