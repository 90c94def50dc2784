"""What changed from one plan to another, and why: what was asked, the data, prices, quotas, commitments, leases."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

from orchestrator.plan.plan import Lot
from orchestrator.plan.slots import Quota, first_choices, lots
from orchestrator.planner.offer.spot_prices import priced
from orchestrator.wire.task import Lane, Purchase

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orchestrator.catalog.market import Market
    from orchestrator.plan.plan import Plan


def difference(old: Plan, new: Plan, market: Market) -> list[str]:
    """`market` is the one that the new plan was made from: it tells of lanes that only the old one knows."""
    return [
        f"${old.usd:,.2f} became ${new.usd:,.2f}; {old.finish:.3g} h became {new.finish:.3g} h",
        *_asked(old, new),
        *_datasets(old, new),
        *_copies(old, new),
        *_hours(old, new),
        *_lanes(old, new, market),
    ]


def _asked(old: Plan, new: Plan) -> Iterator[str]:
    before, after = (_flat(plan.sweep.model_dump(mode="json")) for plan in (old, new))
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            yield f"asked: {name} {before.get(name)} became {after.get(name)}"


def _flat(body: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Every value by its dotted name."""
    found: dict[str, Any] = {}
    for name, value in body.items():
        found |= _flat(value, f"{above}{name}.") if isinstance(value, dict) else {f"{above}{name}": value}
    return found


def _datasets(old: Plan, new: Plan) -> Iterator[str]:
    before, after = ({dataset.name: dataset.bytes for dataset in plan.datasets} for plan in (old, new))
    yield from (f"data: {name} is new" for name in sorted(after.keys() - before.keys()))
    yield from (f"data: {name} is gone" for name in sorted(before.keys() - after.keys()))
    for name in sorted(before.keys() & after.keys()):
        if before[name] != after[name]:
            yield f"data: {name} {before[name] / 1e9:,.3g} GB became {after[name] / 1e9:,.3g} GB"


def _copies(old: Plan, new: Plan) -> Iterator[str]:
    made, making = ({(plan.datasets[c.dataset].name, c.to_region) for c in plan.copies} for plan in (old, new))
    yield from (f"copy: {name} to {region} is new" for name, region in sorted(making - made))
    yield from (f"copy: {name} to {region} is gone" for name, region in sorted(made - making))


def _hours(old: Plan, new: Plan) -> Iterator[str]:
    """What is now said of runtimes, where it is not what was said."""
    before, after = ({note for note in plan.notes if note.startswith("runtime")} for plan in (old, new))
    yield from (f"hours: {note}" for note in sorted(after - before))


def _lanes(old: Plan, new: Plan, market: Market) -> Iterator[str]:
    """For each lane whose facts or tasks are not what they were: what changed, and where that leaves its tasks."""
    before, after, today = lots(old), lots(new), _today(market)
    gone, come = first_choices(old), first_choices(new)
    for quota in sorted(before.keys() | after.keys()):
        moved = [f"{gone[quota]:,} tasks became {come[quota]:,}"] if gone[quota] != come[quota] else []
        if quota in before:
            changes = list(_changes(before[quota], after.get(quota) or today.get(quota)))
        else:
            changes = [f"new to the plan at {_price(after[quota])}, {_slots(after[quota])} slots"] if moved else []
        if changes or moved:
            yield f"{quota}{f' of {quota.arn}' if quota.arn else ''}: {'; '.join([*changes, *moved])}"


def _changes(old: Lot, new: Lot | None) -> Iterator[str]:
    if new is None:
        yield "not to be had any more"
        return
    if old.usd_per_hour != new.usd_per_hour:
        yield f"price {_price(old)} became {_price(new)}"
    if old.slots != new.slots:
        yield f"quota {_slots(old)} became {_slots(new)}"
    if old.held != new.held:
        yield f"held by other runs {old.held} became {new.held}"


def _price(lot: Lot) -> str:
    return f"${lot.usd_per_hour:.4g}/h"


def _slots(lot: Lot) -> str:
    return "unknown" if lot.slots is None else f"{lot.slots:,}"


def _today(market: Market) -> dict[Quota, Lot]:
    """Every lane, as it is now."""
    columns = ["platform", "region", "instance_type", "purchase", "arn", "usd_per_hour", "slots", "held"]
    candidates = priced(market.candidates, market.discounts).dropna(subset="usd_per_hour")
    found = {}
    for platform, region, kind, purchase, arn, usd, slots, held in candidates[columns].itertuples(index=False):
        lane = Lane(platform, region, kind, Purchase(purchase))
        arn = arn if isinstance(arn, str) else ""
        found[Quota(lane, arn)] = Lot(lane, float(usd), None if isnan(slots) else int(slots), int(held), arn or None)
    return found
