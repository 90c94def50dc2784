"""The kinds of catalog file, in the order in which they depend on each other, and what each of their columns means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.catalog import file_cells as cells
from orchestrator.catalog.row_consistency import RowProblem, commitment_problem, quota_problem
from orchestrator.db import tables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlalchemy import Table

Columns = dict[str, "Sequence[Any]"]

FILE_NAME = object()
"""A field with this default holds the name of the file itself."""


@dataclass(frozen=True)
class Field:
    """One column of a file."""

    name: str
    parse: Callable[[Any], Any]
    """Makes the value of a cell, or raises ValueError in words that can follow the column's name."""
    required: bool = True
    default: object = None
    """The value where an optional field is empty, or its column is missing."""


@dataclass(frozen=True)
class Reference:
    """A column whose values must be rows of another kind."""

    column: str
    parent: Table


@dataclass(frozen=True)
class Kind:
    """One kind of file: what it is called, its columns, and the table that its rows belong to."""

    name: str
    table: Table
    fields: tuple[Field, ...]
    reference: Reference | None = None
    row_problem: Callable[[Mapping[str, Any]], RowProblem | None] | None = None
    """Finds what is wrong with a row whose cells are each right."""

    def to_table_columns(self, columns: Columns) -> Columns:
        """Return the table's columns, made from a file's: a dataset is called by its campaign and version."""
        if self.table is not tables.datasets:
            return columns
        pairs = zip(columns["campaign"], columns["version"], strict=True)
        return columns | {"dataset": [f"{campaign}@{version}" for campaign, version in pairs]}


_PLATFORM = Field("platform", cells.text, required=False, default="sagemaker")
_MACHINE = (_PLATFORM, Field("region", cells.zone), Field("instance_type", cells.instance_type))
_OBSERVED = (Field("observed_at", cells.moment), Field("source", cells.text, required=False, default=FILE_NAME))

KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "campaigns",
            tables.campaigns,
            (
                Field("campaign", cells.name),
                Field("recorded_from", cells.day, required=False),
                Field("recorded_to", cells.day, required=False),
                Field("tags", cells.tags, required=False, default=()),
                Field("description", cells.text, required=False),
            ),
        ),
        Kind(
            "datasets",
            tables.datasets,
            (
                Field("campaign", cells.name),
                Field("version", cells.name),
                Field("bytes", cells.number),
                Field("created_at", cells.moment),
            ),
            Reference("campaign", tables.campaigns),
        ),
        Kind(
            "replicas",
            tables.replicas,
            (
                Field("dataset", cells.dataset),
                Field("region", cells.region),
                Field("s3_uri", cells.s3_uri),
                Field("bytes", cells.number, required=False),
            ),
            Reference("dataset", tables.datasets),
        ),
        Kind(
            "prices",
            tables.prices,
            (*_MACHINE, Field("purchase", cells.purchase), Field("usd_per_hour", cells.amount), *_OBSERVED),
        ),
        Kind(
            "quotas",
            tables.quotas,
            (
                _PLATFORM,
                Field("region", cells.zone),
                Field("instance_type", cells.or_any(cells.instance_type)),
                Field("purchase", cells.or_any(cells.purchase)),
                Field("slots", cells.slots),
                *_OBSERVED,
            ),
            row_problem=quota_problem,
        ),
        Kind(
            "transfer_prices",
            tables.transfer_prices,
            (
                Field("from_region", cells.zone),
                Field("to_region", cells.zone),
                Field("from_gb", cells.amount, required=False, default=0.0),
                Field("usd_per_gb", cells.amount),
            ),
        ),
        Kind("interruptions", tables.interruptions, (*_MACHINE, Field("per_hour", cells.amount), *_OBSERVED)),
        Kind(
            "commitments",
            tables.commitments,
            (
                Field("commitment", cells.text),
                Field("kind", cells.commitment),
                _PLATFORM,
                Field("region", cells.or_any(cells.region)),
                Field("instance_type", cells.or_any(cells.instance_type)),
                Field("slots", cells.slots, required=False),
                Field("usd_per_hour", cells.amount, required=False),
                Field("discount", cells.part, required=False),
                Field("starts_at", cells.moment),
                Field("ends_at", cells.moment),
                Field("arn", cells.training_plan, required=False),
            ),
            row_problem=commitment_problem,
        ),
    )
}
