"""What finished tasks tell the planner: how long they took, and what an hour of spot really cost."""

from __future__ import annotations

import json
import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, case, func, or_, select

from orchestrator.catalog.market import DISCOUNTS, HISTORY, PINS, Past, Seen, table
from orchestrator.db.engine import reading
from orchestrator.db.tables import results, runs
from orchestrator.errors import Damaged, NewerVersion
from orchestrator.runs.past.lane_history import LANE, interruptions, refusals, starts
from orchestrator.runs.past.marks import What, forgotten, pins, still_counts
from orchestrator.runs.written.anchor import Anchor
from orchestrator.wire.names import canonical
from orchestrator.wire.result import TaskState
from orchestrator.wire.stored import damage_named
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    from sqlalchemy import ColumnElement, Connection, Engine

    from orchestrator.plan.plan import Plan

TASKS = 5_000
RUNS = 100
"""Only so many of the newest runs are looked at: more would teach nothing new."""
logger = logging.getLogger(__name__)

_FACTOR, _PRIME = 7_919, 100_003

_DONE = results.c.state == TaskState.DONE.value
_NEWEST_FIRST = (runs.c.created_at.desc(), runs.c.name, results.c.task)


def history(engine: Engine, workload: str, now: float | None = None) -> Past:
    """Return the history of this workload, and what was seen of all lanes, from the ledger as it is now.

    `now` is in seconds since the epoch; refusals count the less the older they are.
    """
    with reading(engine) as connection:
        tasks = table(_history(connection, workload), HISTORY)
        return replace(_of_lanes(connection, workload, time.time() if now is None else now), history=tasks)


def history_of_lanes(engine: Engine, workload: str = "", now: float | None = None) -> Past:
    """Return what was seen of lanes, without the tasks of any workload. The pins are those of this one."""
    with reading(engine) as connection:
        return _of_lanes(connection, workload, time.time() if now is None else now)


def _of_lanes(connection: Connection, workload: str, now: float) -> Past:
    seen = Seen(
        starts=starts(connection, now),
        asked=refusals(connection, now),
        interrupted=interruptions(connection, now),
        pins=table(_pins(connection, workload), PINS),
    )
    return Past(table((), HISTORY), table(_discounts(connection), DISCOUNTS), seen)


def _pins(connection: Connection, workload: str) -> list[tuple[str | float, ...]]:
    """Return the pins of lanes, and those of this workload's runtimes."""
    return [
        (one.subject.what.value, one.subject.place, one.value, one.by, f"{one.at:%Y-%m-%d}")
        for one in pins(connection)
        if one.subject.workload in ("", workload)
    ]


class _Row(NamedTuple):
    platform: str
    region: str
    instance_type: str
    purchase: str
    instances: int
    bytes: int
    sizes: str
    hours: float


def _history(connection: Connection, workload: str) -> Iterator[_Row]:
    """Return finished tasks, newest run first, then by task."""
    mine = runs.c.workload == workload
    retried = case((results.c.attempt > 1, results.c.document)).label("document")
    names = ("run", "task", "platform", "region", "instance_type", "purchase", "instances", "seconds")
    query = select(*(results.c[name] for name in names), retried).join(runs)
    known = forgotten(connection, What.RUNTIME, workload)
    mine &= still_counts(known, results, results.c.ended_at, ("instance_type",))
    query = query.where(_sample(connection, mine)).order_by(*_NEWEST_FIRST)
    plans: dict[str, Plan | None] = {}
    for row in connection.execute(query).all():
        if row.document is not None and not (row.document and _trained_once(json.loads(row.document))):
            continue  # after an interruption nobody knows what was done twice; or what was done was not read yet
        if row.run not in plans:
            plans[row.run] = _plan(connection, row.run)
        plan = plans[row.run]
        if plan is None:
            continue
        yield _Row(
            platform=row.platform,
            region=row.region,
            instance_type=row.instance_type,
            purchase=row.purchase,
            instances=row.instances,
            bytes=plan.datasets[plan.share(row.task).dataset].bytes,
            sizes=_sizes(plan, row.task),
            hours=row.seconds / 3600,
        )


def _trained_once(result: dict[str, Any]) -> bool:
    """Return whether one attempt did all of it: after an interruption nobody knows what was done twice."""
    attempts = result["outcomes"]
    return bool(attempts[0]["number"] == 1 and sum(attempt["seconds"] > 0 for attempt in attempts) == 1)


def _sizes(plan: Plan, task: int) -> str:
    """Return all parameters that are numbers, as JSON. Which of them matter is for the next sweep to say."""
    known = plan.sweep.train.hyperparameters | plan.point(task)
    return canonical({name: value for name, value in known.items() if not isinstance(value, str)})


def _plan(connection: Connection, run: str) -> Plan | None:
    """Return a run's plan; None if it can no longer be read, for no old run may stand in the way of a new plan."""
    document = connection.execute(select(runs.c.document).where(runs.c.name == run)).scalar_one()
    try:
        with damage_named(f"run {run} in the database"):
            return Anchor.from_json(json.loads(document)).plan
    except (Damaged, NewerVersion) as error:
        logger.warning("nothing is learned from run %s, which cannot be read: %s", run, str(error).splitlines()[0])
        return None


def _discounts(connection: Connection) -> list[tuple[str | float, ...]]:
    """Return what an hour of a spot instance really cost, by platform, Region and instance type, in their order.

    Every hour counts the same, in a short task or a long one.
    """
    import pandas as pd

    clean = (results.c.purchase == Purchase.SPOT.value) & (results.c.attempt == 1) & (results.c.seconds > 0)
    clean &= still_counts(forgotten(connection, What.PRICE), results, results.c.ended_at, LANE)
    # SageMaker bills less than a training on spot takes, and EC2 more, for instances boot.
    billed = case((results.c.billable_s > results.c.seconds, results.c.billable_s), else_=results.c.seconds)
    hours = billed / 3600.0 * results.c.instances
    key = ["platform", "region", "instance_type"]
    query = select(*(results.c[name] for name in key), hours, results.c.usd / hours).join(runs)
    found = connection.execute(query.where(_sample(connection, _DONE) & clean & (results.c.usd > 0))).all()
    lanes = pd.DataFrame([tuple(row) for row in found], columns=[*key, "hours", "paid"]).groupby(key)
    return [(*map(str, lane), float(rows["hours"].sum()), _median(rows)) for lane, rows in lanes]


def _median(rows: pd.DataFrame) -> float:
    """Return what half of the hours cost at most, and half of them at least."""
    in_order = rows.sort_values(["paid", "hours"])
    passed = in_order["hours"].cumsum() / in_order["hours"].sum()
    low, high = ((passed < half).sum() for half in (0.5 - 1e-9, 0.5 + 1e-9))
    return float((in_order["paid"].iloc[low] + in_order["paid"].iloc[high]) / 2)


def _sample(connection: Connection, wanted: ColumnElement[bool]) -> ColumnElement[bool]:
    """Return a query for finished tasks of the newest runs; for some from all over the newest, if it has too many."""
    counts = (
        select(runs.c.name, func.count())
        .join(results)
        .where(wanted & _DONE)
        .group_by(runs.c.name, runs.c.created_at)
        .order_by(runs.c.created_at.desc(), runs.c.name)
        .limit(RUNS)
    )
    left = TASKS
    whole: list[str] = []
    for run, done in connection.execute(counts):
        if done > left:
            mixed = results.c.task * _FACTOR % _PRIME  # points repeat in a sweep: every tenth task may be of one kind
            part = (results.c.run == run) & (mixed < _PRIME * left // done)
            return and_(_DONE, or_(results.c.run.in_(whole), part))
        whole.append(run)
        left -= done
        if not left:
            break
    return and_(_DONE, results.c.run.in_(whole))
