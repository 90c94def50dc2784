"""The notes of a plan on what was learned of lanes: waits for machines, refusals, and what a person has pinned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.plan.slots import lots_by_key, tasks_by_lot
from orchestrator.planner.hours.lane_times import LANE, names_of
from orchestrator.spec.duration import HOUR, MINUTE, spell

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from orchestrator.catalog.market import Market
    from orchestrator.plan.plan import Plan
    from orchestrator.planner.offer.offer import Offer

REFUSED_TOLD = 0.05
"""The chance of a refusal from which a lane is named."""
PINNED = "pinned: the "
"""The beginning of each note on a pin of a lane that the plan uses."""
NAMED = 3
"""Lanes that are named; the rest are counted."""
_UNITS = {"price": "${:.4g} an hour", "interruptions": "{:.3g} an hour"}


def lane_notes(plan: Plan, offer: Offer, market: Market) -> Iterator[str]:
    """Yield what a plan's reader should know of lanes: what was learned of those that it uses first, and what binds."""
    yield from _launchers(plan, market)
    lanes = offer.lanes.drop_duplicates(LANE).assign(name=lambda table: names_of(table))
    used = {str(share.places[0].lane) for share in plan.shares}
    yield from _waits(lanes[lanes["name"].isin(used)])
    yield from _refusals(lanes)
    yield from _pins(market.seen.pins, set(lanes["name"]), used)


def _launchers(plan: Plan, market: Market) -> Iterator[str]:
    """Yield that Batch has no room for more launchers, if the plan needs all that it has room for."""
    room = market.launchers
    if room is not None and room < plan.tasks and at_once(plan) >= room:
        yield f"Batch has room for {room:,} launchers at once, as max_vcpus of [infra] says: no more trainings run then"


def at_once(plan: Plan) -> int:
    """Return how many trainings a plan has at once at the most."""
    lots, tasks, count = lots_by_key(plan), tasks_by_lot(plan), 0
    for key, by_instances in tasks.items():
        used = lots[key].used if key in lots else None
        wanted = sum(by_instances.values())
        count += wanted if used is None else min(wanted, used // min(by_instances))
    return count


def _waits(used: pd.DataFrame) -> Iterator[str]:
    """Yield the lanes of the plan whose trainings are expected to wait for machines."""
    waits = used[used["wait_h"] * HOUR >= MINUTE].sort_values(["wait_h", "name"], ascending=[False, True])
    named = [f"{name} {spell(hours * HOUR)}" for name, hours in zip(waits["name"], waits["wait_h"], strict=True)]
    if named:
        yield f"as learned, trainings wait for machines, which `by when` counts: {_listed(named)}"


def _refusals(lanes: pd.DataFrame) -> Iterator[str]:
    """Yield the lanes that count as dearer than they are, as they have refused machines lately."""
    refused = lanes[lanes["refused"] >= REFUSED_TOLD].sort_values(["refused", "name"], ascending=[False, True])
    named = [
        f"{name} {times_as_dear(part):.2g} times"
        for name, part in zip(refused["name"], refused["refused"], strict=True)
    ]
    if named:
        yield (
            f"lanes that refused machines lately count as dearer than they are, in the bound too: {_listed(named)}; "
            "what the plan costs is what would be paid"
        )


def times_as_dear(refused: float) -> float:
    """Return how many times as dear as it is a lane counts that refuses at this chance."""
    return 1 / (1 - refused)


def _pins(pins: pd.DataFrame, offered: set[str], used: set[str]) -> Iterator[str]:
    """Yield the pins of lanes: those of the plan's own lanes each, the others together."""
    of_lanes = pins[pins["place"].isin(offered)]
    for what, place, value, by, at in of_lanes.itertuples(index=False, name=None):
        if place in used:
            said = _UNITS[what].format(value) if what in _UNITS else spell(value * HOUR)
            yield f"{PINNED}{what} of {place} is {said}, as {by} said on {at}"
    others = sum(place not in used for place in of_lanes["place"])
    if others:
        yield f"pinned: {others} value{'s' if others > 1 else ''} of lanes that the plan does not use first"


def _listed(named: list[str]) -> str:
    more = f", and {len(named) - NAMED} more" if len(named) > NAMED else ""
    return ", ".join(named[:NAMED]) + more
