"""Slots that live runs hold, so that no two plans count on the same ones.

A lease is taken before a run is made, in one transaction with the look at what is free; it shrinks as the run's tasks
end, and is gone when they have. Should nobody sync the run any more, it expires: when the last of its tasks must have
run out of time.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, select, text

from orchestrator.db.engine import reading, writing
from orchestrator.db.tables import leases, runs
from orchestrator.db.upsert import insert_missing
from orchestrator.plan.slots import Quota, at_once, first_choices
from orchestrator.wire.ranges import Ranges

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sqlalchemy import Connection, Engine

    from orchestrator.plan.plan import Plan
    from orchestrator.runs.anchor import Anchor
    from orchestrator.runs.cloud import Account
    from orchestrator.runs.ledger import Ledger


def book(wanted: Anchor, account: Account, ledger: Ledger, check: Callable[[], None]) -> Anchor:
    """Note the run, with all slots that its plan takes; unless `check`, which sees what others hold, refuses.

    A run that is noted already is given back as it is: a submit killed on its way, to be completed.
    """
    with _alone(ledger.engine) as connection:
        there = ledger.anchor(wanted.name)
        if there:
            return there
        check()
        insert_missing(connection, runs, [ledger.row(wanted, account)])
        _take(connection, wanted, first_choices(wanted.plan))
    return wanted


def renew(anchor: Anchor, ledger: Ledger) -> None:
    """Hold what the tasks take that have not ended, and no more."""
    left = _left(anchor, ledger)
    if left or held(anchor.name, ledger):
        with writing(ledger.engine) as connection:
            connection.execute(delete(leases).where(leases.c.run == anchor.name))
            _take(connection, anchor, left)


def held(run: str, ledger: Ledger) -> int:
    """Slots that the run holds, in all lanes."""
    with reading(ledger.engine) as connection:
        return connection.scalar(select(func.sum(leases.c.slots)).where(leases.c.run == run)) or 0


@contextmanager
def _alone(engine: Engine) -> Iterator[Connection]:
    """Whoever else comes to take slots waits until these are taken. SQLite lets nobody else write anyway."""
    with writing(engine) as connection:
        if engine.dialect.name != "sqlite":
            connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('sweep leases'))"))
        yield connection


def _left(anchor: Anchor, ledger: Ledger) -> Counter[Quota]:
    """Tasks that have not ended, by the slots of their first choice."""
    spans: dict[Quota, list[tuple[int, int]]] = defaultdict(list)
    for share in anchor.plan.shares:
        spans[Quota.of(share.places[0])].append((share.first, share.first + share.count))
    tasks = {quota: Ranges.in_order(its) for quota, its in spans.items()}
    return +Counter({quota: len(its) - ledger.ended(anchor.name, its) for quota, its in tasks.items()})


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
        for quota, slots in at_once(plan, tasks).items()
        if slots
    ]
    insert_missing(connection, leases, rows)


def _lives(plan: Plan) -> dict[Quota, int]:
    """How long one task may wait and run at its first choice, at most: in seconds, by whose slots it takes."""
    lives: dict[Quota, int] = defaultdict(int)
    for share in plan.shares:
        quota, limits = Quota.of(share.places[0]), share.limits
        lives[quota] = max(lives[quota], limits.max_runtime_s + limits.patience_s, limits.max_wait_s)
    return lives
