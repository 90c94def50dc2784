"""What attempts tell of their lanes: how long a start takes, how often machines are refused, how often taken away.

Refusals fade: what is a day old counts half, and what is a week old not at all. Starts and interruptions of the last 90
days count alike.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd
from sqlalchemy import case, func, select

from orchestrator.catalog.market import ASKED, INTERRUPTED, STARTED, table
from orchestrator.db.history_tables import attempts
from orchestrator.runs.past.marks import What, forgotten, still_counts
from orchestrator.wire.result import Cause
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

LANE = ("platform", "region", "instance_type", "purchase")
NEWEST = 200
"""Starts of one lane that are looked at, newest first."""
DAYS = 90
"""Days for which starts and interruptions are remembered."""
HALF_LIFE_HOURS = 24.0
"""Hours after which a refusal, or a start that waited, counts half."""
FORGOTTEN_HOURS = 7 * 24
"""Hours after which refusals count no more."""
HOUR_S = 3600.0

_LANE = [attempts.c[name] for name in LANE]
_BEGAN = attempts.c.started_at.is_not(None)
_REFUSED = (attempts.c.cause == Cause.CAPACITY.value) & attempts.c.started_at.is_(None)


def starts(connection: Connection, now: float) -> pd.DataFrame:
    """Return STARTED: the median of what trainings of each lane took to start and end, of the newest of them."""
    counts = _counts(connection, What.START, now, DAYS * 24) & attempts.c.start_s.is_not(None)
    newest_first = (attempts.c.requested_at.desc(), attempts.c.run, attempts.c.task, attempts.c.number)
    nth = func.row_number().over(partition_by=_LANE, order_by=newest_first).label("nth")
    every = select(*_LANE, attempts.c.start_s, nth).where(counts).subquery()
    query = select(*(every.c[name] for name in LANE), every.c.start_s).where(every.c.nth <= NEWEST)
    found = pd.DataFrame([tuple(row) for row in connection.execute(query)], columns=[*LANE, "start_s"])
    return table(
        [(*lane, len(rows), float(rows["start_s"].median()) / HOUR_S) for lane, rows in found.groupby(list(LANE))],
        STARTED,
    )


def interruptions(connection: Connection, now: float) -> pd.DataFrame:
    """Return INTERRUPTED: the hours that spot instances of each type and Region ran for us, and how often they were
    taken away."""
    key = [attempts.c[name] for name in INTERRUPTED[:3]]
    hours = func.sum(attempts.c.seconds / HOUR_S * attempts.c.instances)
    ended_so = case((attempts.c.cause == Cause.INTERRUPTED.value, 1), else_=0)
    counts = _counts(connection, What.INTERRUPTIONS, now, DAYS * 24)
    spot = (attempts.c.purchase == Purchase.SPOT.value) & (attempts.c.seconds > 0)
    query = select(*key, hours, func.sum(attempts.c.interruptions + ended_so)).where(counts & spot).group_by(*key)
    rows = [(*map(str, row[:3]), float(row[3]), int(row[4])) for row in connection.execute(query)]
    return table(sorted(rows), INTERRUPTED)


def refusals(connection: Connection, now: float) -> pd.DataFrame:
    """Return ASKED: the hours in which ours asked a lane for machines, and how many of them it refused and gave in.

    The newer an hour, the more it counts. It counts once, however many asked in it: a run is refused as a whole.
    """
    counts = _counts(connection, What.WAITING, now, FORGOTTEN_HOURS) & (_BEGAN | _REFUSED)
    columns = (*_LANE, attempts.c.hour, _BEGAN.label("began"))
    query = select(*columns, func.count(), func.avg(attempts.c.waited_s)).where(counts).group_by(*columns)
    lanes: defaultdict[tuple[str, ...], defaultdict[int, _Hour]] = defaultdict(lambda: defaultdict(_Hour))
    this_hour = int(now // HOUR_S)
    for *lane, hour, began, count, waited_s in connection.execute(query):
        hours = lanes[tuple(lane)]
        if began:
            hours[hour].granted += count
            hours[hour].waited += count * waited_s / HOUR_S
            continue
        for refused_in in range(hour, min(hour + int(waited_s // HOUR_S), this_hour) + 1):
            hours[refused_in].refused += count
    return table([(*lane, *_faded(its, this_hour)) for lane, its in sorted(lanes.items())], ASKED)


@dataclass
class _Hour:
    """What became in one hour of those who asked a lane for machines."""

    granted: int = 0
    refused: int = 0
    waited: float = 0.0
    """Hours that those waited, together, who got some."""


def _faded(hours: dict[int, _Hour], now: int) -> tuple[float, float, float, float]:
    """Return the hours in which a lane was asked, those in which it refused, and those in which it gave, each by its
    age; and of the last the mean hours of waiting."""
    asked = refused = granted = waited = 0.0
    for hour, its in sorted(hours.items()):
        weight = 0.5 ** (max(now - hour, 0) / HALF_LIFE_HOURS)
        asked += weight
        refused += weight * its.refused / (its.refused + its.granted)
        if its.granted:
            granted += weight
            waited += weight * its.waited / its.granted
    return asked, refused, granted, waited


def _counts(connection: Connection, what: What, now: float, hours: int) -> ColumnElement[bool]:
    """Return the condition for an attempt of the last so many hours to count, as nobody has let it be forgotten."""
    this_hour = int(now // HOUR_S)
    recent = attempts.c.hour.between(this_hour - hours, this_hour)
    return recent & still_counts(forgotten(connection, what), attempts, attempts.c.requested_at, LANE)
