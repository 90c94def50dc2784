"""Rows that are wrong only beside other rows: of their own file, or of what is loaded already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import and_, exists, select

from orchestrator.db import tables
from orchestrator.errors import did_you_mean
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

    from orchestrator.catalog.files.incoming import IncomingRows
    from orchestrator.catalog.files.rows import CatalogRows

_MANY = 10_000
"""An error suggests the nearest name only if there are fewer names than this."""


def refuse_duplicates(file: CatalogRows, incoming: IncomingRows) -> None:
    """Raise if two rows have one key."""
    if found := incoming.first_duplicate():
        earlier, later = found
        keys = ", ".join(column.name for column in file.kind.table.primary_key)
        raise file.error(f"the same {keys} as in line {earlier}", line=later)


def refuse_orphans(file: CatalogRows, incoming: IncomingRows, connection: Connection) -> None:
    """Raise if a row refers to one of another kind that is not in the catalog."""
    reference = file.kind.reference
    if reference is None:
        return
    parents = reference.parent.c[reference.column]
    if orphan := incoming.first_orphan(reference.column, parents):
        line, name = orphan
        known = sorted(connection.scalars(select(parents)))
        hint = did_you_mean(name, known) if len(known) < _MANY else ""
        raise file.error(f"unknown {reference.column} {name!r}", line=line, column=reference.column, hint=hint)


def refuse_spot_alone(file: CatalogRows, incoming: IncomingRows) -> None:
    """Raise if a spot price has no on-demand price, from any file: what is billed for spot is a part of that."""
    if row := incoming.first_where(is_spot_alone(incoming)):
        raise file.error(
            f"{row.instance_type} in {row.region} has a spot price and no on_demand price",
            line=row.line,
            column="purchase",
            hint="add a row with its on_demand price",
        )


def is_spot_alone(incoming: IncomingRows) -> ColumnElement[bool]:
    """Return the condition for a row of prices to be of spot, with no on-demand price in the catalog."""
    same = [tables.prices.c[name] == incoming.c[name] for name in ("platform", "region", "instance_type")]
    beside = exists().where(and_(*same, tables.prices.c.purchase == Purchase.ON_DEMAND.value))
    return and_(incoming.c.purchase == Purchase.SPOT.value, ~beside)
