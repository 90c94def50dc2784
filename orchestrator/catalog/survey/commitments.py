"""The commitments that a sweep may use: what is paid for already.

A training plan is a lane for a while, and a reservation is one with or without an end; `sql/candidates.sql` gives their
hours the price 0. To the planner both are training plans. A savings plan is so many
dollars an hour; `planner/offer/choices.py` says which choices draw on them.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import select

from orchestrator.catalog.market import ANY, POOLS, stands_for
from orchestrator.db.tables import commitments
from orchestrator.wire.task import Lane, Purchase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection, Row

    from orchestrator.spec.sweep import Where

TRAINING_PLAN = "training_plan"
RESERVATION = "reservation"
SAVINGS_PLAN = "savings_plan"
LANES = (TRAINING_PLAN, RESERVATION)
"""The kinds of commitments that are lanes."""
HOUR = timedelta(hours=1)
FAR_H = 365 * 24
"""Hours from now that are far away: no plan looks further ahead."""


class TrainingPlan(NamedTuple):
    """Instances of one type that are ours for a while, or as long as nobody cancels them."""

    platform: str
    region: str
    instance_type: str
    slots: int
    opens_h: int
    closes_h: int | None
    """Hours from now until it is over; None if that is far away."""
    site: str
    """The ARN of the plan or the reservation."""

    @property
    def lane(self) -> Lane:
        return Lane(self.platform, self.region, self.instance_type, Purchase.COMMITTED)


def training_plans(connection: Connection, where: Where, now: datetime) -> list[TrainingPlan]:
    """Return the training plans and reservations that this sweep might use, sorted.

    A plan in several parts has a row for each. Only the first part that is not over is used.
    """
    rows = [
        TrainingPlan(row.platform, row.region, row.instance_type, row.slots, opens, closes, row.arn)
        for row, opens, closes in _commitments_in_use(connection, LANES, where, now)
    ]
    latest_first = sorted(rows, key=lambda plan: plan.opens_h, reverse=True)
    earliest_part = {plan.site: plan for plan in latest_first}
    return sorted(earliest_part.values(), key=lambda plan: (plan.lane, plan.site))


def savings_pools(connection: Connection, where: Where, now: datetime) -> list[tuple[Any, ...]]:
    """Return the savings plans that this sweep might use, as rows of POOLS sorted by name.

    There are none for a sweep that may not buy on demand: savings plans are for on-demand hours.
    """
    if Purchase.ON_DEMAND not in where.purchases:
        return []
    facts = POOLS[1:-2]
    return sorted(
        (row.commitment, *(getattr(row, name) for name in facts), opens, math.inf if closes is None else closes)
        for row, opens, closes in _commitments_in_use(connection, (SAVINGS_PLAN,), where, now)
    )


def _commitments_in_use(
    connection: Connection, kinds: Sequence[str], where: Where, now: datetime
) -> list[tuple[Row[Any], int, int | None]]:
    """Return commitments of some kinds that this sweep might use, each with the hours from now in which it is ours."""
    found = []
    for row in connection.execute(select(commitments).where(commitments.c.kind.in_(kinds))):
        opens, closes = window(row.starts_at, row.ends_at, now)
        is_open = opens < (FAR_H if closes is None else closes)
        region_allowed = not where.regions or row.region in (ANY, *where.regions)
        type_allowed = any(stands_for(row.instance_type, name) for name in where.instance_types)
        if is_open and region_allowed and type_allowed:
            found.append((row, opens, closes))
    return found


def window(starts_at: datetime, ends_at: datetime | None, now: datetime) -> tuple[int, int | None]:
    """Return in how many hours from now a commitment opens, and in how many it closes: None if that is far away.

    The hours are whole, so that plans made within one hour are equal. It opens as seen from the hour that has begun,
    and closes as seen from the next hour: so no hour is promised that is not there.
    """
    this_hour = now.replace(minute=0, second=0, microsecond=0)
    next_hour = now if now == this_hour else this_hour + HOUR
    opens = max(0, math.ceil((starts_at - this_hour) / HOUR))
    closes = FAR_H if ends_at is None else math.floor((ends_at - next_hour) / HOUR)
    return opens, closes if closes < FAR_H else None
