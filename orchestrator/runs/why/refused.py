"""What places have refused: those that lacked capacity, quotas that are used up, and other starts that AWS puts off."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from orchestrator.plan.slots import LotKey, lots_by_key
from orchestrator.runs.why.hindrance import MOST, Hindrance, few
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.reasons import QUOTA_USED_UP
from orchestrator.wire.result import Cause, TaskState
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.runs.known.rows import Known
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.wire.task import Lane

ASK_AGAIN = "launchers ask again by themselves"


def find_refused(anchor: Anchor, known: list[Known]) -> Iterator[Hindrance]:
    """Yield the places that lacked capacity, and why starting trainings have not begun."""
    capacity: Counter[str] = Counter()
    sites: defaultdict[str, set[str]] = defaultdict(set)
    for outcome in (outcome for one in known for outcome in one.result.outcomes if outcome.cause is Cause.CAPACITY):
        capacity[str(outcome.lane)] += 1
        sites[str(outcome.lane)] |= {outcome.site} - {""}
    for lane, count in capacity.most_common(MOST):
        tasks = Ranges.of(
            one.result.task
            for one in known
            if any(outcome.cause is Cause.CAPACITY and str(outcome.lane) == lane for outcome in one.result.outcomes)
        )
        hint = _more_room(anchor)
        times = "once" if count == 1 else f"{count:,} times"
        where = f" ({', '.join(sorted(sites[lane]))})" if sites[lane] else ""
        yield Hindrance(len(tasks), f"{lane} had no capacity, {times}{where}", hint, few(tasks))
    yield from _put_off(anchor, known)


def _more_room(anchor: Anchor) -> str:
    """Say what would give tasks more places, or more time for those that they have."""
    where = anchor.plan.sweep.where
    kinds = ["platforms", "instance types", *(["`on_demand`"] if Purchase.ON_DEMAND not in where.purchases else [])]
    if where.regions:
        kinds.insert(0, "Regions")
    return f"allow more {', '.join(kinds[:-1])} or {kinds[-1]} under `where`, or a longer `patience`"


def _put_off(anchor: Anchor, known: list[Known]) -> Iterator[Hindrance]:
    """Yield why AWS does not start trainings yet, with the Region and the quota where it is one."""
    alike: defaultdict[tuple[str, Lane | None], list[int]] = defaultdict(list)
    for one in known:
        if one.state is TaskState.STARTING and one.result.reason:
            last = one.result.outcomes[-1] if one.result.outcomes else None
            alike[one.result.reason, last.lane if last else None].append(one.result.task)
    for (reason, lane), tasks in sorted(alike.items(), key=lambda item: len(item[1]), reverse=True)[:MOST]:
        what, hint = f"AWS refuses for now: {reason}", ASK_AGAIN
        if lane and reason.startswith(QUOTA_USED_UP):
            what, hint = _by_quota(anchor, lane, reason.removeprefix(QUOTA_USED_UP))
        yield Hindrance(len(tasks), what, hint, few(Ranges.of(tasks)))


def _by_quota(anchor: Anchor, lane: Lane, said: str) -> tuple[str, str]:
    """Return what AWS refuses for a quota of this lane, and what to do about that."""
    quotas = sorted(
        {quota for key, lot in lots_by_key(anchor.plan).items() if key.lane == lane for quota in lot.quotas}
    )
    named = " and ".join(quota.name for quota in quotas)
    of = f" of {named}" if named else ""
    what = f"wait for quota{of} in {lane.region}, for {LotKey(lane)}: {said}"
    asks = " or ".join(f"`sweep quotas {quota.name} --region {quota.region} --raise-to UNITS`" for quota in quotas)
    more = f"{asks} tells how to ask AWS for more" if asks else f"ask AWS for more in Service Quotas of {lane.region}"
    return what, f"{ASK_AGAIN}, and begin when there is room; {more}"
