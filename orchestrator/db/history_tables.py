"""The tables of what runs have taught, lane by lane, and of what a person has said of that."""

from __future__ import annotations

from sqlalchemy import BigInteger, CheckConstraint, Column, Double, ForeignKey, Index, Integer, Table, Text

from orchestrator.db.schema import UtcTime, metadata

attempts = Table(
    "attempts",
    metadata,
    Column("run", ForeignKey("runs.name", ondelete="CASCADE"), primary_key=True),
    Column("task", BigInteger, primary_key=True),
    Column("number", Integer, primary_key=True),
    *(Column(name, Text, nullable=False) for name in ("platform", "region", "instance_type", "purchase")),
    Column("instances", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("cause", Text, nullable=False, comment="why it ended so, in the words of results"),
    Column("hour", Integer, comment="in which it was asked for, in hours since the epoch; null if unknown"),
    Column("requested_at", Double),
    Column("started_at", Double),
    Column("ended_at", Double),
    Column("seconds", Double, nullable=False, comment="that it trained"),
    Column("waited_s", Double, nullable=False, comment="in which the platform had no machines, before it began"),
    Column("start_s", Double, comment="that it held its slot beside these, to start and to end; null until it ended"),
    Column("interruptions", Integer, nullable=False),
    Index(None, "hour"),
)
"""Every attempt of every result that was read: a cache of the ledger's documents, for questions about lanes."""

learned_marks = Table(
    "learned_marks",
    metadata,
    Column("what", Text, primary_key=True, comment="runtime, price, interruptions, waiting or start"),
    Column("workload", Text, primary_key=True, comment="whose runtime it is; empty of all else"),
    Column("place", Text, primary_key=True, comment="a lane, or an instance type of a runtime; * for every one"),
    Column("said_at", UtcTime, primary_key=True),
    Column("mark", Text, nullable=False, comment="pin, unpin or forget"),
    Column("value", Double, comment="of a pin: hours, $ an hour, or times an hour"),
    Column("said_by", Text, nullable=False),
    CheckConstraint("value >= 0", name="value"),
)
"""What a person has said of what is learned. Rows are only added: the newest pin or unpin holds, and what was observed
before the newest forget does not count."""
