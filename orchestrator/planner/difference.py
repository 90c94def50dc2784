"""Tells what changed from one plan to another, and why: the sweep, the data, prices, quotas, commitments, leases."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

from orchestrator.plan.plan import Lot
from orchestrator.plan.slots import Quota, lots_by_quota, tasks_by_quota
from orchestrator.planner.offer.spot_prices import price_spot
from orchestrator.wire.task import Lane, Purchase

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orchestrator.catalog.market import Market
    from orchestrator.plan.plan import Plan


def difference(old: Plan, new: Plan, market: Market) -> list[str]:
    """Return in words what changed, one line a change.

    `market` is the one that the new plan was made from: lanes that only the old plan knows are looked up in it.
    """
    return [
        f"${old.usd:,.2f} became ${new.usd:,.2f}; {old.finish:.3g} h became {new.finish:.3g} h",
        *_sweep_changes(old, new),
        *_dataset_changes(old, new),
        *_copy_changes(old, new),
        *_runtime_changes(old, new),
        *_lane_changes(old, new, market),
    ]


def _sweep_changes(old: Plan, new: Plan) -> Iterator[str]:
    before, after = (_flat(plan.sweep.model_dump(mode="json")) for plan in (old, new))
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            yield f"asked: {name} {before.get(name)} became {after.get(name)}"


def _flat(body: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Return every value of a nested mapping by its dotted name."""
    found: dict[str, Any] = {}
    for name, value in body.items():
        found |= _flat(value, f"{above}{name}.") if isinstance(value, dict) else {f"{above}{name}": value}
    return found


def _dataset_changes(old: Plan, new: Plan) -> Iterator[str]:
    before, after = ({dataset.name: dataset.bytes for dataset in plan.datasets} for plan in (old, new))
    yield from (f"data: {name} is new" for name in sorted(after.keys() - before.keys()))
    yield from (f"data: {name} is gone" for name in sorted(before.keys() - after.keys()))
    for name in sorted(before.keys() & after.keys()):
        if before[name] != after[name]:
            yield f"data: {name} {before[name] / 1e9:,.3g} GB became {after[name] / 1e9:,.3g} GB"


def _copy_changes(old: Plan, new: Plan) -> Iterator[str]:
    made, making = ({(plan.datasets[c.dataset].name, c.to_region) for c in plan.copies} for plan in (old, new))
    yield from (f"copy: {name} to {region} is new" for name, region in sorted(making - made))
    yield from (f"copy: {name} to {region} is gone" for name, region in sorted(made - making))


def _runtime_changes(old: Plan, new: Plan) -> Iterator[str]:
    """Yield the new plan's notes on runtimes that the old plan does not have."""
    before, after = ({note for note in plan.notes if note.startswith("runtime")} for plan in (old, new))
    yield from (f"hours: {note}" for note in sorted(after - before))


def _lane_changes(old: Plan, new: Plan, market: Market) -> Iterator[str]:
    """Yield each lane whose facts or tasks changed, with what changed."""
    before, after, today = lots_by_quota(old), lots_by_quota(new), _lots_today(market)
    tasks_before, tasks_after = tasks_by_quota(old), tasks_by_quota(new)
    for quota in sorted(before.keys() | after.keys()):
        moved = tasks_before[quota] != tasks_after[quota]
        changes: list[str] = []
        if quota in before:
            changes += _lot_changes(before[quota], after.get(quota) or today.get(quota))
        elif moved:
            changes.append(f"new to the plan at {_price(after[quota])}, {_slots(after[quota])} slots")
        if moved:
            changes.append(f"{tasks_before[quota]:,} tasks became {tasks_after[quota]:,}")
        if changes:
            name = f"{quota} of {quota.arn}" if quota.arn else str(quota)
            yield f"{name}: {'; '.join(changes)}"


def _lot_changes(old: Lot, new: Lot | None) -> Iterator[str]:
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


def _lots_today(market: Market) -> dict[Quota, Lot]:
    """Return the lot of every lane that is for sale today."""
    columns = ["platform", "region", "instance_type", "purchase", "arn", "usd_per_hour", "slots", "held"]
    candidates = price_spot(market.candidates, market.discounts).dropna(subset="usd_per_hour")
    found = {}
    for platform, region, kind, purchase, arn, usd, slots, held in candidates[columns].itertuples(index=False):
        lane = Lane(platform, region, kind, Purchase(purchase))
        arn = arn if isinstance(arn, str) else ""
        found[Quota(lane, arn)] = Lot(lane, float(usd), None if isnan(slots) else int(slots), int(held), arn or None)
    return found
