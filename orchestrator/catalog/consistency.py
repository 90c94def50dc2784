"""Rows of catalog files whose cells are each right, but not together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.catalog.committed import TRAINING_PLAN
from orchestrator.catalog.market import ANY

if TYPE_CHECKING:
    from collections.abc import Mapping

_FACTS = {True: ("slots", "arn"), False: ("usd_per_hour", "discount")}
"""What is said of a training plan, and of a savings plan."""


class Complaint(NamedTuple):
    column: str
    problem: str


def half_a_total(row: Mapping[str, Any]) -> Complaint | None:
    """Of a quota."""
    if row["purchase"] == ANY and row["instance_type"] != ANY:
        return Complaint("purchase", f"{ANY!r} is for a quota over all instance types; write one row a purchase")
    return None


def half_a_commitment(row: Mapping[str, Any]) -> Complaint | None:
    timed = row["kind"] == TRAINING_PLAN
    a_plan, another = ("a training plan", "a savings plan") if timed else ("a savings plan", "a training plan")
    for column in _FACTS[timed]:
        if row[column] is None:
            return Complaint(column, f"is empty, but {a_plan} has one")
    for column in _FACTS[not timed]:
        if row[column] is not None:
            return Complaint(column, f"is {another}'s, not {a_plan}'s; leave it empty")
    if row["ends_at"] <= row["starts_at"]:
        return Complaint("ends_at", f"{row['ends_at']:%Y-%m-%dT%H:%M} is not after starts_at")
    return _vague(row) if timed else None


def _vague(row: Mapping[str, Any]) -> Complaint | None:
    """A training plan is of one Region and one instance type."""
    for column in ("region", "instance_type"):
        if row[column] == ANY:
            return Complaint(column, f"{ANY!r} is for savings plans; a training plan has one {column}")
    region = row["arn"].split(":")[3]
    return None if region == row["region"] else Complaint("arn", f"is of {region}, not of {row['region']}")
