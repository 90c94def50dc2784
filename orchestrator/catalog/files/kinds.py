"""The kinds of catalog file, in the order in which they depend on each other, and what each of their columns means."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orchestrator.catalog.files import cells
from orchestrator.catalog.files.consistency import RowProblem, commitment_problem, quota_problem, shape_problem
from orchestrator.db import tables
from orchestrator.platforms.registry import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

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
    to_table: Callable[[Columns], Columns] = dict
    """Makes the table's columns of a file's, where they are not the same."""
    of_now: bool = False
    """True if the rows that a feed told of a Region say what is there now: what it tells no longer is removed."""
    only_in_files: Mapping[str, str] = field(default_factory=dict)
    """Columns of files that the table does not have, with the table's column that is made of each."""

    @property
    def shown(self) -> list[str]:
        """The columns in which rows are shown: a file that has them can be loaded."""
        return [field.name for field in self.fields if field.name not in self.only_in_files]

    def given(self, names: Iterable[str]) -> list[str]:
        """Return the table's columns that are known from a file with these columns."""
        made = dict.fromkeys(self.only_in_files.get(name, name) for name in names)
        return [name for name in made if name in self.table.columns]


def _with_dataset(columns: Columns) -> Columns:
    """Return the columns of datasets: one is called by its campaign and version."""
    pairs = zip(columns["campaign"], columns["version"], strict=True)
    return columns | {"dataset": [f"{campaign}@{version}" for campaign, version in pairs]}


def _by_quota(columns: Columns) -> Columns:
    """Return the columns of quotas: one of instances of a lane is called by their type and purchase."""
    names = [
        quota or f"{instance_type}/{purchase}"
        for quota, instance_type, purchase in zip(
            columns["quota"], columns["instance_type"], columns["purchase"], strict=True
        )
    ]
    units = [slots if units is None else units for units, slots in zip(columns["units"], columns["slots"], strict=True)]
    kept = {name: values for name, values in columns.items() if name not in _OF_LANE}
    return kept | {"quota": names, "units": units}


_OF_LANE = {"instance_type": "quota", "purchase": "quota", "slots": "units"}
"""The columns of a quota of instances, with the table's column that is made of each."""

_PLATFORM = Field("platform", cells.text, required=False, default=DEFAULT)
_MACHINE = (_PLATFORM, Field("region", cells.zone), Field("instance_type", cells.instance_type))
_SOURCE = Field("source", cells.text, required=False, default=FILE_NAME)
_OBSERVED = (Field("observed_at", cells.moment), _SOURCE)

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
            to_table=_with_dataset,
        ),
        Kind(
            "replicas",
            tables.replicas,
            (
                Field("dataset", cells.dataset),
                Field("region", cells.region),
                Field("s3_uri", cells.s3_uri),
                Field("bytes", cells.number, required=False),
                Field("objects", cells.number, required=False),
                Field("mark", cells.text, required=False),
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
                Field("quota", cells.text, required=False),
                Field("units", cells.slots, required=False),
                Field("instance_type", cells.or_any(cells.instance_type), required=False),
                Field("purchase", cells.or_any(cells.purchase), required=False),
                Field("slots", cells.slots, required=False),
                *_OBSERVED,
                Field("code", cells.text, required=False),
            ),
            row_problem=quota_problem,
            to_table=_by_quota,
            only_in_files=_OF_LANE,
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
        Kind(
            "storage_prices",
            tables.storage_prices,
            (
                Field("region", cells.zone),
                Field("from_gb", cells.amount, required=False, default=0.0),
                Field("usd_per_gb_month", cells.amount),
            ),
        ),
        Kind(
            "placement_scores",
            tables.placement_scores,
            (
                _PLATFORM,
                Field("region", cells.zone),
                Field("family", cells.text),
                Field("score", cells.score),
                *_OBSERVED,
            ),
        ),
        Kind(
            "quota_use",
            tables.quota_use,
            (_PLATFORM, Field("region", cells.zone), Field("quota", cells.text), Field("used", cells.slots), _SOURCE),
            of_now=True,
        ),
        Kind(
            "instance_types",
            tables.instance_types,
            (
                Field("instance_type", cells.instance_type),
                Field("vcpus", cells.slots),
                Field("memory_gib", cells.amount),
                Field("chip", cells.text, required=False),
                Field("chips", cells.slots, required=False),
                Field("chip_memory_gib", cells.slots, required=False),
                Field("gbps", cells.amount, required=False),
                Field("efa", cells.flag, required=False, default=False),
            ),
            row_problem=shape_problem,
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
                Field("ends_at", cells.moment, required=False),
                Field("arn", cells.arn, required=False),
                _SOURCE,
            ),
            row_problem=commitment_problem,
            of_now=True,
        ),
    )
}
