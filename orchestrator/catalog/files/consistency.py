"""Rows of catalog files that are wrong although each of their cells is right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.catalog.market import ANY, is_family
from orchestrator.catalog.survey.commitments import RESERVATION, SAVINGS_PLAN, TRAINING_PLAN

if TYPE_CHECKING:
    from collections.abc import Mapping

_OF_LANES = ("slots", "arn")
_OF_POOLS = ("usd_per_hour", "discount")
"""The columns that only some kinds of commitments have."""
_NAMES = {TRAINING_PLAN: "a training plan", RESERVATION: "a reservation", SAVINGS_PLAN: "a savings plan"}


class RowProblem(NamedTuple):
    """What is wrong with a row, and the column that an error points at."""

    column: str
    problem: str
    hint: str = ""


def quota_problem(row: Mapping[str, Any]) -> RowProblem | None:
    """Return what is wrong with a row of quotas: it is of instances of a lane, or of units of a quota with a name.

    Only a quota over all instance types may be over all purchases.
    """
    of_lane, by_name = ("instance_type", "purchase", "slots"), ("quota", "units")
    needed, others = (of_lane, by_name) if row["quota"] is None else (by_name, of_lane)
    for column in others:
        if row[column] is not None:
            form = "a quota by instance type has" if needed is of_lane else "a quota by name has"
            return RowProblem(column, f"is not what {form}: {', '.join(needed)}")
    for column in needed:
        if row[column] is None:
            return RowProblem(column, "is empty")
    if row["purchase"] == ANY and row["instance_type"] != ANY:
        return RowProblem("purchase", f"{ANY!r} is for a quota over all instance types; write one row a purchase")
    return None


def shape_problem(row: Mapping[str, Any]) -> RowProblem | None:
    """Return what is wrong with a row of instance types: accelerators have a name, a number and a memory."""
    columns = ("chip", "chips", "chip_memory_gib")
    missing = [name for name in columns if row[name] in (None, 0)]
    if 0 < len(missing) < len(columns):
        return RowProblem(missing[0], f"is empty, but there is a {next(name for name in columns if row[name])}")
    for name in ("vcpus", "memory_gib"):
        if not row[name]:
            return RowProblem(name, "is 0")
    return None


def commitment_problem(row: Mapping[str, Any]) -> RowProblem | None:
    """Return what is wrong with a row of commitments: each kind has columns of its own, and an order of times.

    Only a reservation may be without an end.
    """
    kind, name = row["kind"], _NAMES[row["kind"]]
    own, others = (_OF_POOLS, _OF_LANES) if kind == SAVINGS_PLAN else (_OF_LANES, _OF_POOLS)
    for column in (*own, *(() if kind == RESERVATION else ("ends_at",))):
        if row[column] is None:
            return RowProblem(column, f"is empty, but {name} has one")
    for column in others:
        if row[column] is not None:
            whose = "a savings plan" if others is _OF_POOLS else "a training plan"
            return RowProblem(column, f"is {whose}'s, not {name}'s; leave it empty")
    if row["ends_at"] is not None and row["ends_at"] <= row["starts_at"]:
        return RowProblem("ends_at", f"{row['ends_at']:%Y-%m-%dT%H:%M} is not after starts_at")
    return None if kind == SAVINGS_PLAN else _lane_problem(row, name)


def _lane_problem(row: Mapping[str, Any], name: str) -> RowProblem | None:
    """Return what is wrong with what is a lane: it is for one Region and one instance type, and its ARN is there."""
    for column in ("region", "instance_type"):
        if row[column] == ANY or is_family(row[column]):
            return RowProblem(column, f"{row[column]!r} is for savings plans; {name} has one {column}")
    region = row["arn"].split(":")[3]
    if region != row["region"]:
        return RowProblem("arn", f"is of {region}, not of {row['region']}")
    return None
