"""Why a dataset can be trained nowhere: the first reason that holds, with names and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from orchestrator.catalog.select import few
from orchestrator.db.tables import prices
from orchestrator.errors import CatalogError, InfeasibleError, did_you_mean

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table

    from orchestrator.spec.sweep import Where


def check_instance_types(connection: Connection, where: Where) -> None:
    """A misspelt instance type is found even when the others would do."""
    known = set(connection.scalars(select(prices.c.instance_type).distinct()))
    if not known:
        raise CatalogError("the catalog has no prices", hint="sweep catalog load prices.csv")
    for name in where.instance_types:
        if name not in known:
            raise InfeasibleError(
                f"no price of instance type {name!r} is known", hint=did_you_mean(name, sorted(known))
            )


def no_place(connection: Connection, nowhere: list[str], where: Where, wanted: Table) -> InfeasibleError:
    """Of the first dataset that has no candidate, and how many more there are."""
    dataset = nowhere[0]
    others = f"; nor can {len(nowhere) - 1:,} more datasets" if len(nowhere) > 1 else ""
    regions = sorted(connection.scalars(select(wanted.c.region).where(wanted.c.dataset == dataset)))
    if not regions:
        return InfeasibleError(
            f"dataset {dataset} has no replica in any Region{others}", hint="sweep catalog load replicas.csv"
        )
    allowed = [region for region in regions if not where.regions or region in where.regions]
    if not allowed:
        return InfeasibleError(
            f"dataset {dataset} has no replica in an allowed Region ({few(where.regions)}){others}",
            hint=f"it lies in {few(regions)}: allow one of these, or put a replica there",
        )
    purchases = [purchase.value for purchase in where.purchases]
    priced = connection.execute(
        select(prices.c.region, prices.c.purchase).where(prices.c.instance_type.in_(where.instance_types)).distinct()
    ).fetchall()
    other_purchases = sorted({row.purchase for row in priced if row.region in allowed})
    other_regions = sorted({row.region for row in priced if row.purchase in purchases} - set(allowed))
    if other_purchases:
        hint = f"there are {' and '.join(other_purchases)} prices: add them to purchases"
    elif other_regions:
        hint = f"they have prices in {few(other_regions)}, where the dataset has no replica that may be used"
    else:
        hint = "sweep catalog load prices.csv"
    return InfeasibleError(
        f"dataset {dataset} lies in {few(allowed)}, where {few(where.instance_types)} "
        f"{'has' if len(where.instance_types) == 1 else 'have'} no {' or '.join(purchases)} price{others}",
        hint=hint,
    )
