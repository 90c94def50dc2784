"""Tells what changed from one plan to another, and what each kind of change has cost: attribution.py adds that up."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from orchestrator.plan.facts import LanePrice, QuotaFact
from orchestrator.plan.slots import LotKey, lots_by_key, tasks_by_lot
from orchestrator.planner.attribution import attribute
from orchestrator.planner.lane_notes import PINNED
from orchestrator.planner.offer.instance_counts import on_instances
from orchestrator.planner.offer.spot_prices import LISTED, as_learned
from orchestrator.wire.task import Lane, Purchase, Quota

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orchestrator.catalog.market import Market
    from orchestrator.plan.plan import Plan


NAMED = 5
"""Lanes without tasks that are named where their price changed. The rest are counted."""


def difference(old: Plan, new: Plan, market: Market) -> list[str]:
    """Return in words what changed, one line a change.

    `market` is the one that the new plan was made from: lanes that only the old plan knows are looked up in it.
    """
    return [
        f"${old.usd:,.2f} became ${new.usd:,.2f}; {old.finish:.3g} h became {new.finish:.3g} h",
        *(f"because of {part.cause}: {_signed(part.usd)}" for part in attribute(old, new, market)),
        *_sweep_changes(old, new),
        *_dataset_changes(old, new),
        *_copy_changes(old, new),
        *_runtime_changes(old, new),
        *_pin_changes(old, new),
        *_lane_changes(old, new, market),
        *_quota_changes(old, market),
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


def _pin_changes(old: Plan, new: Plan) -> Iterator[str]:
    """Yield the pins of lanes that only one of the plans tells of."""
    before, after = ({note for note in plan.notes if note.startswith(PINNED)} for plan in (old, new))
    yield from sorted(after - before)
    yield from (f"no longer {note}" for note in sorted(before - after))


def _lane_changes(old: Plan, new: Plan, market: Market) -> Iterator[str]:
    """Yield each lane whose price or tasks changed, with what changed. Of those without tasks, only some are named."""
    before, after, today = _prices(old), _prices(new), _prices_today(market)
    pins = market.seen.pins
    pinned = set(pins.loc[pins["what"] == "price", "place"])
    tasks_before, tasks_after = tasks_by_lot(old), tasks_by_lot(new)
    mixed = len({key.lane.platform for key in before.keys() | after.keys()}) > 1
    without_tasks = []
    for key in sorted(before.keys() | after.keys()):
        counts_before, counts_after = tasks_before.get(key, Counter()), tasks_after.get(key, Counter())
        count_before, count_after = counts_before.total(), counts_after.total()
        moved = count_before != count_after
        changes: list[str] = []
        if key in before:
            changes += _price_changes(before[key], after.get(key, today.get(key)), is_pinned=str(key.lane) in pinned)
        elif moved:
            changes.append(f"new to the plan at {_price(after[key].usd_per_hour)}")
        if moved:
            changes.append(f"{count_before:,} tasks became {count_after:,}")
        elif counts_before != counts_after:
            changes.append(f"tasks{_on(counts_before)} became tasks{_on(counts_after)}")
        if changes:
            name = f"{key.lane.platform} {key}" if mixed else str(key)
            name = f"{name} of {key.site}" if key.site else name
            line = f"{name}: {'; '.join(changes)}"
            if count_before or count_after:
                yield line
            else:
                without_tasks.append(line)
    yield from without_tasks[:NAMED]
    if len(without_tasks) > NAMED:
        yield f"prices of {len(without_tasks) - NAMED:,} more lanes changed, where no tasks were or are"


def _on(tasks: Counter[int]) -> str:
    """Return in words on how many instances tasks are, the fewest first; and how many of each, where that varies."""
    if len(tasks) == 1:
        return on_instances(*tasks)
    return " and".join(f"{on_instances(instances)} ({tasks[instances]:,})" for instances in sorted(tasks))


def _prices(plan: Plan) -> dict[LotKey, LanePrice]:
    """Return what the plan knows of the prices of lanes; those that it uses, if it is of older make."""
    lots = lots_by_key(plan).items()
    used = {key: LanePrice(lot.lane, lot.site, lot.usd_per_hour, lot.usd_per_hour) for key, lot in lots}
    return used | {LotKey(price.lane, price.site): price for price in plan.prices}


def _price_changes(before: LanePrice, now: LanePrice | None, *, is_pinned: bool) -> Iterator[str]:
    if now is None:
        yield "not to be had any more"
        return
    was, listed = _price(before.listed), _price(now.listed)
    if was != listed:
        yield f"price {was} became {listed}"
    expected, paid = _price(before.discount * now.listed), _price(now.usd_per_hour)
    if expected != paid:
        why = "as somebody has pinned it" if is_pinned else "by what our own tasks paid"
        yield f"{why}, {expected} became {paid}"


def _price(usd_per_hour: float) -> str:
    return f"${usd_per_hour:.4g}/h"


def _signed(usd: float) -> str:
    return f"{'+' if usd > 0 else '-'}${abs(usd):,.2f}"


def _prices_today(market: Market) -> dict[LotKey, LanePrice]:
    """Return the price of every lane that is for sale today."""
    columns = ["platform", "region", "instance_type", "purchase", "site", LISTED, "usd_per_hour"]
    candidates = as_learned(market).dropna(subset="usd_per_hour").fillna({"site": ""})
    found = {}
    for platform, region, instance_type, purchase, site, listed, usd in candidates[columns].itertuples(index=False):
        lane = Lane(platform, region, instance_type, Purchase(purchase))
        found[LotKey(lane, site)] = LanePrice(lane, site, float(listed), float(usd))
    return found


def _quota_changes(old: Plan, market: Market) -> Iterator[str]:
    """Yield each quota that changed since the old plan was made, with what changed."""
    before = {fact.quota: fact for fact in old.quotas}
    today = {
        Quota(platform, region, name): QuotaFact(Quota(platform, region, name), units, held)
        for platform, region, name, units, held in market.quotas.itertuples(index=False, name=None)
    }
    known = before.keys() | (today.keys() if old.prices else set())
    for quota in sorted(known | {quota for lot in old.lots for quota in lot.quotas}):
        then, now = before.get(quota), today.get(quota)
        changes = []
        if _units(then) != _units(now):
            changes.append(f"{_units(then)} became {_units(now)}")
        if then is not None and now is not None and then.held != now.held:
            changes.append(f"held by other runs {then.held:,} became {now.held:,}")
        if changes:
            yield f"quota {quota}: {'; '.join(changes)}"


def _units(fact: QuotaFact | None) -> str:
    return "unknown" if fact is None else f"{fact.units:,}"
