"""A new plan for those tasks of a run that have not been started, on today's market, within what is left to it."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from math import fsum
from typing import TYPE_CHECKING

import pandas as pd

from orchestrator.catalog.market import LEASES, table
from orchestrator.errors import CatalogError, Refused
from orchestrator.plan.copy import copied_uri
from orchestrator.plan.slots import LotKey, lots_by_key
from orchestrator.planner.again import Busy, plan_again
from orchestrator.runs.sending.proposal import Proposal
from orchestrator.runs.written.planned import Planned, pieces
from orchestrator.spec.duration import HOUR, MINUTE, seconds, spell
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.task import Quota

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from orchestrator.catalog.market import Market
    from orchestrator.plan.facts import Lot
    from orchestrator.plan.plan import Plan, Share
    from orchestrator.planner.again import Again
    from orchestrator.runs.sending.unstarted import Running, Unstarted
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.spec.goal import Goal
    from orchestrator.spec.sweep import Sweep
    from orchestrator.wire.task import Lane

SOON = 0.25
"""The part of the time left within which a running task must end, for its slots to be planned with: new tasks wait
there until they are free. The slots of any other are taken for as long as the plan runs."""


def propose(
    anchor: Anchor, unstarted: Unstarted, market: Market, joined: Callable[[Plan], Plan], now: float
) -> Proposal | None:
    """Return another plan for the tasks that have not been started; None if there are none.

    Raise InfeasibleError or Refused where there is none within what is left, and CatalogError where their data is not
    known. `joined` puts places together that one request asks for.
    """
    if not unstarted.tasks:
        return None
    sweep = unstarted.plan.sweep
    left = _left_hours(sweep.plan, unstarted.since, now)
    hours = sweep.plan.hours if left is None else left
    ending = [one for one in unstarted.running if one.hours_left <= SOON * hours]
    staying = [one for one in unstarted.running if one.hours_left > SOON * hours]
    asked = _within(sweep, hours, unstarted)
    used = sorted({share.dataset for share in pieces(unstarted.plan.shares, unstarted.tasks)})
    numbers, market = _of_their_data(unstarted, used, market)
    there = list(_in_a_row(pieces(unstarted.plan.shares, unstarted.tasks)))
    platforms = {platform for platform, _ in anchor.plan.sites}
    market = _without(market, platforms, unstarted.refused)
    market = _with_leases(_with_copies(market, unstarted.plan), anchor.name, _units(staying, unstarted.plan))
    again = plan_again(asked, market, numbers, there, Busy(_hours_left(ending), _hours_left(staying)))
    found = Proposal(
        unstarted=unstarted,
        planned=Planned((), (), unstarted.plan.lots, unstarted.plan.quotas),
        stay_usd=again.stay_usd,
        usd=again.stay_usd,
        stay_hours=again.stay_hours,
        hours=again.stay_hours,
        left_hours=left,
        lost=again.lost,
        fastest=sweep.plan.fastest,
    )
    if again.plan is None:
        return found
    plan = joined(again.plan)
    shares = _to_send(again, plan, unstarted, used, (now - anchor.created_at) / HOUR)
    copies = tuple(replace(copy, dataset=used[copy.dataset]) for copy in plan.copies)
    planned = Planned(shares, copies, _lots(plan, staying), plan.quotas)
    return replace(found, planned=planned, usd=plan.usd, hours=plan.finish)


def _hours_left(running: Iterable[Running]) -> dict[tuple[LotKey, int], list[float]]:
    """Return for how many hours slots are busy yet, by their lot and the instances of a slot."""
    found = defaultdict[tuple[LotKey, int], list[float]](list)
    for one in running:
        found[one.lot, one.instances].append(one.hours_left)
    return found


def _left_hours(goal: Goal, since: float, now: float) -> float | None:
    """Return the hours until the deadline; None without one. Refused if hardly any is left."""
    if goal.deadline is None:
        return None
    left = since + seconds(goal.deadline) - now
    if left < MINUTE:
        hint = "`sweep cancel` and `sweep retry` give what is left all the time anew"
        raise Refused(f"its deadline of {goal.deadline} is over: no plan can keep it", hint=hint)
    return left / HOUR


def _within(sweep: Sweep, hours: float, unstarted: Unstarted) -> Sweep:
    """Return the sweep with what is left of its time, and the envelopes that its tasks have."""
    goal = sweep.plan
    time = {"deadline" if goal.deadline else "horizon": spell(max(hours * HOUR, MINUTE))}
    shares = pieces(unstarted.plan.shares, unstarted.tasks)
    envelopes = fsum((share.limits.envelope or 0.0) * share.count for share in shares)
    money = {} if goal.budget is None else {"budget": envelopes}
    return sweep.model_copy(update={"plan": goal.model_copy(update={**time, **money})})


def _of_their_data(unstarted: Unstarted, used: list[int], market: Market) -> tuple[Ranges, Market]:
    """Return the market of the datasets that the tasks train on, and their numbers in a sweep of these alone.

    CatalogError if one of them is not known.
    """
    plan, points = unstarted.plan, len(unstarted.plan.sweep.points)
    names = [plan.datasets[number].name for number in used]
    known = market.datasets.set_index("dataset", drop=False)
    missing = [name for name in names if name not in known.index]
    if missing:
        hint = "`sweep catalog pull` brings the team's; a run is planned anew where its catalog is"
        raise CatalogError(f"this catalog does not know {missing[0]}", hint=hint)
    spans = []
    for place, number in enumerate(used):
        own = Ranges(((number * points, (number + 1) * points),))
        shift = (place - number) * points
        spans += [(first + shift, stop + shift) for first, stop in own.minus(own.minus(unstarted.tasks)).spans]
    candidates = market.candidates[market.candidates["dataset"].isin(names)]
    datasets = known.loc[names].reset_index(drop=True)
    return Ranges.in_order(spans), replace(market, datasets=datasets, candidates=candidates.reset_index(drop=True))


def _in_a_row(shares: Iterable[Share]) -> Iterator[Share]:
    """Yield the shares numbered as if their tasks were all: 0, 1, 2, ..."""
    first = 0
    for share in shares:
        yield replace(share, first=first)
        first += share.count


def _without(market: Market, platforms: Iterable[str], refused: Iterable[Lane]) -> Market:
    """Return the market of these platforms, for which the run's code was packed, without lanes that refuse now.

    Data that could be trained on nowhere else keeps them.
    """
    table = market.candidates[market.candidates["platform"].isin(list(platforms))]
    lanes = {(lane.platform, lane.region, lane.instance_type, lane.purchase.value) for lane in refused}
    rows = table[["platform", "region", "instance_type", "purchase"]].itertuples(index=False, name=None)
    kept = table[[tuple(row) not in lanes for row in rows]]
    stranded = table[~table["dataset"].isin(kept["dataset"])]
    return replace(market, candidates=pd.concat([kept, stranded]).sort_index().reset_index(drop=True))


def _with_copies(market: Market, plan: Plan) -> Market:
    """Return the market in which copies that the run has made are there, and cost nothing."""
    made = {(plan.datasets[copy.dataset].name, copy.to_region) for copy in plan.copies}
    table = market.candidates
    pairs = table[["dataset", "region"]].itertuples(index=False, name=None)
    copied = pd.Series([tuple(pair) in made for pair in pairs], index=table.index, dtype=bool)
    copied &= table["from_region"].notna()
    there = table[copied].copy()
    if there.empty:
        return market
    there["s3_uri"] = there["dataset"].map(copied_uri)
    there["from_region"] = None
    there["transfer_usd_per_gb"] = float("nan")
    there = there.drop_duplicates(["dataset", "platform", "region", "instance_type", "purchase", "site"])
    found = pd.concat([table[~copied], there]).sort_index().reset_index(drop=True)
    return replace(market, candidates=found)


def _units(running: Iterable[Running], plan: Plan) -> Counter[Quota]:
    """Return the units of each quota that these tasks hold."""
    lots, held = lots_by_key(plan), Counter[Quota]()
    for one in running:
        uses = lots[one.lot].quotas if one.lot in lots else {}
        held.update({quota: units * one.instances for quota, units in uses.items()})
    return held


def _with_leases(market: Market, run: str, held: Counter[Quota]) -> Market:
    """Return the market in which the run holds these units, and not what it held for all of its tasks."""
    mine = market.leases["run"] == run
    rows = [(run, quota.platform, quota.region, quota.name, units) for quota, units in sorted(held.items())]
    rows += market.leases[~mine].itertuples(index=False, name=None)
    taken = Counter[Quota]()
    for _, *key, units in rows:
        taken[Quota(*key)] += units
    keys = market.quotas[["platform", "region", "quota"]].itertuples(index=False, name=None)
    quotas = market.quotas.assign(held=pd.Series([taken[Quota(*key)] for key in keys], dtype="int64"))
    return replace(market, quotas=quotas, leases=table(sorted(rows), LEASES))


def _to_send(again: Again, plan: Plan, unstarted: Unstarted, used: list[int], since: float) -> tuple[Share, ...]:
    """Return the shares of those tasks that are to be sent, by their numbers in the run, and in their order.

    They are the tasks that move. With a budget they are all: their envelopes are dealt out anew. `used` are the numbers
    of their datasets in the run. Their hours count from when the run was made, `since` hours ago.
    """
    by_first = {share.first: share for share in plan.shares}
    whole = unstarted.plan.sweep.plan.budget is not None
    moving = [(share.tasks, share) for share in plan.shares] if whole else again.moving
    found = []
    for tasks, planned in moving:
        share = by_first[planned.first]
        finish = None if share.finish is None else share.finish + since
        share = replace(share, dataset=used[share.dataset], finish=finish)
        for low, high in tasks.spans:
            found += [share.cut(first, stop) for first, stop in unstarted.tasks.cut(low, high).spans]
    return tuple(sorted(found, key=lambda share: share.first))


def _lots(plan: Plan, staying: Iterable[Running]) -> tuple[Lot, ...]:
    """Return the lots of the new plan, with the instances that running tasks keep beside it."""
    kept = Counter[LotKey]()
    for one in staying:
        kept[one.lot] += one.instances
    return tuple(
        lot if lot.used is None else replace(lot, used=lot.used + kept[LotKey(lot.lane, lot.site)]) for lot in plan.lots
    )
