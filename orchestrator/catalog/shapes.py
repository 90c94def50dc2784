"""What instance types are made of, as far as the catalog was told: it is believed before what stands in our code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from orchestrator.db.tables import instance_types
from orchestrator.wire.shapes import Chip, Shape, shape

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row


def told_shapes(connection: Connection) -> dict[str, Shape]:
    """Return the shapes that the catalog knows, by the names of their types without `ml.`."""
    return {row.instance_type: _shape(row) for row in connection.execute(select(instance_types))}


def _shape(row: Row[tuple[object, ...]]) -> Shape:
    known = shape(row.instance_type)
    chip = Chip(row.chip, row.chips, row.chip_memory_gib) if row.chip else None
    # No feed tells who reads the accelerators' memory past the kernel.
    return Shape(row.vcpus, row.memory_gib, chip, row.gbps, efa=row.efa, rdma=bool(row.efa and known and known.rdma))
