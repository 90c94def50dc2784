"""What is paid for already: training plans, each a lane for a while; savings plans, each so many dollars an hour."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, Integer, MetaData, Table, Text, insert, select

from orchestrator.catalog.market import ANY, POOLS
from orchestrator.db.tables import commitments
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

    from orchestrator.spec.sweep import Where

TRAINING_PLAN = "training_plan"
SAVINGS_PLAN = "savings_plan"
HOUR = timedelta(hours=1)
FAR_H = 365 * 24
"""No plan looks further ahead."""

COMMITTED = Table(
    "committed",
    MetaData(),
    *(Column(name, Text, nullable=False) for name in ("platform", "region", "instance_type")),
    Column("slots", Integer, nullable=False),
    Column("opens_h", Integer, nullable=False),
    Column("closes_h", Integer, comment="null if that is far away"),
    Column("arn", Text, nullable=False),
    prefixes=["TEMPORARY"],
)
"""The training plans that are not over. Gone with the transaction."""


def gather(connection: Connection, where: Where, now: datetime) -> None:
    """The training plans that this sweep might use, into COMMITTED. Of one in several parts, the first not over."""
    rows = [
        {name: getattr(row, name) for name in ("platform", "region", "instance_type", "slots", "arn")}
        | {"opens_h": opens, "closes_h": closes}
        for row, opens, closes in _in_play(connection, TRAINING_PLAN, where, now)
    ]
    later_first = sorted(rows, key=lambda row: row["opens_h"], reverse=True)
    first = {row["arn"]: row for row in later_first}
    COMMITTED.create(connection)
    if first:
        connection.execute(insert(COMMITTED), list(first.values()))


def pools(connection: Connection, where: Where, now: datetime) -> list[tuple[Any, ...]]:
    """Rows of POOLS, by name. They are for on-demand hours."""
    if Purchase.ON_DEMAND not in where.purchases:
        return []
    facts = POOLS[1:-2]
    return sorted(
        (row.commitment, *(getattr(row, name) for name in facts), opens, math.inf if closes is None else closes)
        for row, opens, closes in _in_play(connection, SAVINGS_PLAN, where, now)
    )


def _in_play(connection: Connection, kind: str, where: Where, now: datetime) -> list[tuple[Row[Any], int, int | None]]:
    """With the hours from now in which each is ours."""
    rows = connection.execute(select(commitments).where(commitments.c.kind == kind))
    timed = [(row, *window(row.starts_at, row.ends_at, now)) for row in rows]
    return [
        (row, opens, closes)
        for row, opens, closes in timed
        if opens < (FAR_H if closes is None else closes)
        and (not where.regions or row.region in (ANY, *where.regions))
        and row.instance_type in (ANY, *where.instance_types)
    ]


def window(starts_at: datetime, ends_at: datetime, now: datetime) -> tuple[int, int | None]:
    """From and until how many hours from now; None if that is far away.

    Whole hours, so that plans made within one hour are equal: it opens seen from the hour that has begun, and closes
    seen from the next. So no hour is promised that is not there.
    """
    begun = now.replace(minute=0, second=0, microsecond=0)
    opens = max(0, math.ceil((starts_at - begun) / HOUR))
    closes = math.floor((ends_at - (begun if now == begun else begun + HOUR)) / HOUR)
    return opens, closes if closes < FAR_H else None
