"""Says why a dataset can be trained nowhere: the first reason that holds, with names and numbers."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

from sqlalchemy import select

from orchestrator.catalog.files.to_come import believed
from orchestrator.catalog.survey.for_sale import OFFERED
from orchestrator.catalog.wording import counted, few
from orchestrator.db.tables import prices
from orchestrator.errors import CatalogError, InfeasibleError, did_you_mean
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table

    from orchestrator.catalog.survey.for_sale import ForSale
    from orchestrator.spec.sweep import Where


def check_instance_types(connection: Connection, where: Where, for_sale: ForSale) -> None:
    """Raise if the sweep allows an instance type that cannot be had anywhere, even when the others would do."""
    seen = believed(prices, datetime.now(timezone.utc))
    sold = select(prices.c.instance_type).where(prices.c.platform.in_(for_sale.platforms), seen).distinct()
    known = {*connection.scalars(sold), *(plan.instance_type for plan in for_sale.plans)}
    if not known:
        others = sorted(connection.scalars(select(prices.c.platform).where(seen).distinct()))
        if others:
            message = f"the catalog has no prices of {few(for_sale.platforms)}, only of {few(others)}"
            raise CatalogError(message, hint="`sweep catalog refresh` brings them from AWS")
        raise CatalogError("the catalog has no prices", hint="sweep catalog load prices.csv")
    for index, name in enumerate(where.instance_types):
        key = f"where.instance_types.{index}"
        if name not in known:
            theirs = select(prices.c.platform).where(seen & (prices.c.instance_type == name)).distinct()
            if others := sorted(connection.scalars(theirs)):
                message = f"{name} is a type of {few(others)}, and the sweep runs on {few(for_sale.platforms)}"
                hint = f"name {few(others)} under `where.platforms`; {did_you_mean(name, sorted(known))}"
                raise InfeasibleError(message, where=key, hint=hint)
            message = f"no price of instance type {name!r} is known on {' or '.join(for_sale.platforms)}"
            raise InfeasibleError(message, where=key, hint=did_you_mean(name, sorted(known)))
        offered = select(OFFERED.c.platform).where(OFFERED.c.instance_type == name).limit(1)
        if name in for_sale.refused and connection.scalar(offered) is None:
            hint = f"mend that, or leave {name} out"
            raise InfeasibleError(f"{name} cannot be had: {for_sale.refused[name]}", where=key, hint=hint)


def no_place_error(
    connection: Connection, nowhere: list[str], where: Where, for_sale: ForSale, wanted: Table
) -> InfeasibleError:
    """Return an error that says why the first of these datasets has no candidate, and how many more have none.

    `wanted` is the table of the replicas of all datasets that were asked for.
    """
    dataset = nowhere[0]
    regions = sorted(connection.scalars(select(wanted.c.region).where(wanted.c.dataset == dataset)))
    allowed = [region for region in regions if not where.regions or region in where.regions]
    if not regions:
        problem, hint = "has no replica in any Region", "sweep catalog load replicas.csv"
    elif not allowed:
        problem = f"has no replica in an allowed Region ({few(where.regions)})"
        hint = f"it lies in {few(regions)}: allow one of these, or put a replica there"
    elif why := for_sale.excluded_in(allowed):
        problem, hint = (
            f"lies in {few(allowed)}, where it cannot be trained: {why[0]}",
            "widen `where`, or ask for less",
        )
    else:
        problem, hint = _no_price(connection, allowed, where, for_sale)
    others = nowhere[1:]
    if others:
        problem += f"; nor can {counted(others, 'more dataset')} be trained"
    return InfeasibleError(f"dataset {dataset} {problem}", hint=hint)


def _no_price(connection: Connection, allowed: list[str], where: Where, for_sale: ForSale) -> tuple[str, str]:
    it, has = ("it", "has") if len(where.instance_types) == 1 else ("they", "have")
    purchases = [purchase.value for purchase in where.purchases]
    problem = f"lies in {few(allowed)}, where {few(where.instance_types)} {has} no {' or '.join(purchases)} price"
    priced = select(prices.c.region, prices.c.purchase).where(
        prices.c.instance_type.in_(where.instance_types)
        & prices.c.platform.in_(for_sale.platforms)
        & (prices.c.usd_per_hour > 0)
        & believed(prices, datetime.now(timezone.utc))
    )
    known = {(row.region, row.purchase) for row in connection.execute(priced.distinct())}
    known |= {(plan.region, Purchase.COMMITTED.value) for plan in for_sale.plans}
    here = sorted({purchase for region, purchase in known if region in allowed and purchase not in purchases})
    elsewhere = sorted({region for region, purchase in known if purchase in purchases})
    if here:
        return problem, f"{it} {has} {' and '.join(here)} prices there: add these to purchases"
    if elsewhere:
        return problem, f"{it} {has} prices in {few(elsewhere)}"
    return problem, "sweep catalog load prices.csv"
