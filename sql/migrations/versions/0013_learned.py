"""What attempts tell of their lanes, and what a person has said of what is learned."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0009"

_ROWS = 1_000


def upgrade() -> None:
    attempts = op.create_table(
        "attempts",
        sa.Column("run", sa.Text, nullable=False),
        sa.Column("task", sa.BigInteger, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("platform", "region", "instance_type", "purchase")),
        sa.Column("instances", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("cause", sa.Text, nullable=False, comment="why it ended so, in the words of results"),
        sa.Column("hour", sa.Integer, comment="in which it was asked for, in hours since the epoch; null if unknown"),
        *(sa.Column(name, sa.Double) for name in ("requested_at", "started_at", "ended_at")),
        sa.Column("seconds", sa.Double, nullable=False, comment="that it trained"),
        sa.Column(
            "waited_s", sa.Double, nullable=False, comment="in which the platform had no machines, before it began"
        ),
        sa.Column(
            "start_s",
            sa.Double,
            comment="that it held its slot beside these, to start and to end; null until it ended",
        ),
        sa.Column("interruptions", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("run", "task", "number", name="pk_attempts"),
        sa.ForeignKeyConstraint(["run"], ["runs.name"], name="fk_attempts_run", ondelete="CASCADE"),
    )
    op.create_index("ix_attempts_hour", "attempts", ["hour"])
    op.create_table(
        "learned_marks",
        sa.Column("what", sa.Text, nullable=False, comment="runtime, price, interruptions, waiting or start"),
        sa.Column("workload", sa.Text, nullable=False, comment="whose runtime it is; empty of all else"),
        sa.Column(
            "place", sa.Text, nullable=False, comment="a lane, or an instance type of a runtime; * for every one"
        ),
        sa.Column("said_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("mark", sa.Text, nullable=False, comment="pin, unpin or forget"),
        sa.Column("value", sa.Double, comment="of a pin: hours, $ an hour, or times an hour"),
        sa.Column("said_by", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("what", "workload", "place", "said_at", name="pk_learned_marks"),
        sa.CheckConstraint("value >= 0", name="value"),
    )
    _fill(attempts)


def _fill(attempts: sa.Table) -> None:
    """Write what results that were read tell of their attempts. What they cannot tell, such as waits, stays unknown."""
    results = sa.table("results", *map(sa.column, ("run", "task", "document")))
    connection = op.get_bind()
    found = connection.execute(sa.select(results).where(results.c.document != "")).fetchall()
    for first in range(0, len(found), _ROWS):
        rows = [row for one in found[first : first + _ROWS] for row in _rows(*one)]
        if rows:
            connection.execute(sa.insert(attempts), rows)


def _rows(run: str, task: int, document: str) -> list[dict[str, object]]:
    """Return a row for each outcome of a result; none of a result that cannot be understood."""
    try:
        return [_row(run, task, outcome) for outcome in json.loads(document)["outcomes"]]
    except (ValueError, KeyError, TypeError):
        return []


def _row(run: str, task: int, outcome: dict[str, object]) -> dict[str, object]:
    platform, region, rest = str(outcome["lane"]).split("/", 2)
    instance_type, purchase = rest.rsplit("/", 1)
    return {
        "run": run,
        "task": task,
        "number": outcome["number"],
        "platform": platform,
        "region": region,
        "instance_type": instance_type,
        "purchase": purchase,
        "instances": outcome.get("instances", 1),
        "state": outcome["state"],
        "cause": outcome.get("cause", ""),
        "hour": None,
        "requested_at": None,
        "started_at": outcome.get("started_at"),
        "ended_at": outcome.get("ended_at"),
        "seconds": outcome.get("seconds", 0.0),
        "waited_s": 0.0,
        "start_s": None,
        "interruptions": 0,
    }
