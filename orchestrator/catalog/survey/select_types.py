"""Selects the instance types that `where.resources` stands for, among those that are for sale."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

from sqlalchemy import or_, select

from orchestrator.catalog.files.cells import is_local
from orchestrator.catalog.shapes import told_shapes
from orchestrator.catalog.survey.commitments import LANES
from orchestrator.catalog.wording import counted, few
from orchestrator.db.engine import reading
from orchestrator.db.tables import commitments, prices
from orchestrator.errors import InfeasibleError
from orchestrator.wire.task import Lane, Purchase

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from orchestrator.catalog.platforms import Platforms
    from orchestrator.spec.sweep import Sweep, Where

_LINE = "where.resources"
_TYPES = ("where", "instance_types")


def select_types(engine: Engine, platforms: Platforms, sweep: Sweep) -> Sweep:
    """Return the sweep with the instance types that its `where.resources` stands for; as it is, if it has none.

    These are the types that the file names and that have the resources. If it names none, these are all types for sale
    that have them, but for those of which a platform complains: it could not start the training there.
    Raise InfeasibleError where no type is left.
    """
    written = sweep.model_copy(update={"where": sweep.where.as_written()})
    resources, names = written.where.resources, written.where.instance_types
    if resources is None:
        return written
    with reading(engine) as connection:
        known = platforms.known_types(written.where, told_shapes(connection))
    if names:
        return written.with_types(known.having(resources, names))
    with reading(engine) as connection:
        sold = _types_for_sale(connection, written, platforms)
    there = f" in {few(written.where.regions)}" if written.where.regions else ""
    if not sold:
        raise InfeasibleError(f"no instance type is for sale{there}", where=_LINE, hint="sweep catalog load prices.csv")
    found = known.having(resources, sold)
    if not found:
        raise InfeasibleError(
            f"none of {counted(sold, 'instance type')} for sale{there} has {known.missing(resources, sold)}",
            where=_LINE,
            hint="ask for less; `sweep catalog show prices` lists what is for sale",
        )
    return _without_refused(written.with_types(found), platforms)


def _without_refused(sweep: Sweep, platforms: Platforms) -> Sweep:
    """Return the sweep without the types of which a platform complains. InfeasibleError if none is left."""
    complaints = {one.at: one for one in platforms.complaints(sweep)}
    found = {name: complaints.get((*_TYPES, index)) for index, name in enumerate(sweep.where.instance_types)}
    usable = [name for name, complaint in found.items() if complaint is None]
    if not usable:
        complaint = next(one for one in found.values() if one is not None)
        raise InfeasibleError(complaint.message, where=_LINE, hint=complaint.hint)
    return sweep.with_types(usable)


def _types_for_sale(connection: Connection, sweep: Sweep, platforms: Platforms) -> list[str]:
    """Return the types that can be had on the sweep's platforms and in its Regions, as it may buy them, sorted."""
    where = sweep.where
    asked = platforms.asked(where)

    def may_be_bought(lane: Lane) -> bool:
        region_allowed = not where.regions or lane.region in where.regions
        if lane.platform not in asked or not region_allowed or is_local(lane.region):
            return False
        return not platforms.excludes(sweep, lane)

    lanes = [*_priced_lanes(connection, where), *_committed_lanes(connection, where)]
    return sorted({lane.instance_type for lane in lanes if may_be_bought(lane)})


def _priced_lanes(connection: Connection, where: Where) -> list[Lane]:
    """Return the lanes with a price, wherever. A spot lane may have its price by way of an on-demand one."""
    if not {Purchase.SPOT, Purchase.ON_DEMAND}.intersection(where.purchases):
        return []
    key = [prices.c[name] for name in ("platform", "region", "instance_type", "purchase")]
    rows = connection.execute(select(*key).group_by(*key))
    return [Lane(row.platform, row.region, row.instance_type, Purchase(row.purchase)) for row in rows]


def _committed_lanes(connection: Connection, where: Where) -> list[Lane]:
    """Return the lanes of training plans and reservations that are not over, wherever."""
    if Purchase.COMMITTED not in where.purchases:
        return []
    key = [commitments.c[name] for name in ("platform", "region", "instance_type")]
    lasts = or_(commitments.c.ends_at.is_(None), commitments.c.ends_at > datetime.now(timezone.utc))
    rows = connection.execute(select(*key).where(commitments.c.kind.in_(LANES), lasts))
    return [Lane(row.platform, row.region, row.instance_type, Purchase.COMMITTED) for row in rows]
