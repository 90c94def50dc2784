"""Why a plan is as it is, and what changed since another one, in words. Of plans alone: no market is asked again."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from orchestrator.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.planner.plan import Lot, Plan, Share
    from orchestrator.wire.task import Lane


def explain(plan: Plan, what: str) -> list[str]:
    """Of a task by its number, or of a dataset by its name: for each share, where it runs, why, and where else."""
    return [line for share in _shares(plan, what) for line in _explained(plan, share)]


def _shares(plan: Plan, what: str) -> list[Share]:
    if what.isdecimal():
        if int(what) >= plan.tasks:
            raise UsageError(f"there is no task {what}", hint=f"they are numbered 0 to {plan.tasks - 1}")
        return [plan.share(int(what))]
    names = [dataset.name for dataset in plan.datasets]
    if what not in names:
        raise UsageError(f"{what!r} is no task number and no dataset of the plan", hint=did_you_mean(what, names))
    return [share for share in plan.shares if plan.datasets[share.dataset].name == what]


def _explained(plan: Plan, share: Share) -> Iterator[str]:
    lots = {lot.lane: lot for lot in plan.lots}
    last = share.first + share.count - 1
    tasks = f"task {last}" if share.count == 1 else f"tasks {share.first}-{last}"
    lane = share.places[0].lane
    yield f"{tasks} of {plan.datasets[share.dataset].name}: {lane}, {_facts(lots, lane)}"
    yield f"  {share.hours:.3g} h and ${share.usd:.4g} each: {share.why}"
    for rank, place in enumerate(share.places[1:], start=2):
        yield f"  choice {rank}: {place.lane}, {_facts(lots, place.lane)}"


def _facts(lots: dict[Lane, Lot], lane: Lane) -> str:
    lot = lots.get(lane)
    if lot is None:
        return "at a price the plan does not hold"
    return f"${lot.usd_per_hour:.4g}/h, {'no quota known' if lot.slots is None else f'{lot.slots} slots'}"


def difference(old: Plan, new: Plan) -> list[str]:
    """What changed: the cost, the data, prices and quotas, and with them where tasks go."""
    return [
        f"${old.usd:,.2f} became ${new.usd:,.2f}; {old.finish:.3g} h became {new.finish:.3g} h",
        *_datasets(old, new),
        *_lots(old, new),
        *_moves(old, new),
    ]


def _datasets(old: Plan, new: Plan) -> Iterator[str]:
    before, after = ({dataset.name for dataset in plan.datasets} for plan in (old, new))
    yield from (f"data: {name} is new" for name in sorted(after - before))
    yield from (f"data: {name} is gone" for name in sorted(before - after))
    made, making = ({(plan.datasets[c.dataset].name, c.to_region) for c in plan.copies} for plan in (old, new))
    yield from (f"copy: {name} to {region} is new" for name, region in sorted(making - made))
    yield from (f"copy: {name} to {region} is gone" for name, region in sorted(made - making))


def _lots(old: Plan, new: Plan) -> Iterator[str]:
    """Of lanes that both plans may come to."""
    before, after = ({lot.lane: lot for lot in plan.lots} for plan in (old, new))
    for lane in sorted(before.keys() & after.keys()):
        one, other = before[lane], after[lane]
        if one.usd_per_hour != other.usd_per_hour:
            yield f"price: {lane} ${one.usd_per_hour:.4g}/h became ${other.usd_per_hour:.4g}/h"
        if one.slots != other.slots:
            yield f"quota: {lane} {_slots(one)} became {_slots(other)} slots"


def _slots(lot: Lot) -> str:
    return "unknown" if lot.slots is None else str(lot.slots)


def _moves(old: Plan, new: Plan) -> Iterator[str]:
    before, after = (_tasks(plan) for plan in (old, new))
    for lane in sorted(before.keys() | after.keys()):
        if before[lane] != after[lane]:
            yield f"tasks: {lane} {before[lane]:,} became {after[lane]:,}"


def _tasks(plan: Plan) -> Counter[Lane]:
    found: Counter[Lane] = Counter()
    for share in plan.shares:
        found[share.places[0].lane] += share.count
    return found
