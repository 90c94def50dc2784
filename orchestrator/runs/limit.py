"""Changes how many instances of a run may be held at once, while it runs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from orchestrator.aws.turns import Turns
from orchestrator.errors import Refused, UsageError, did_you_mean
from orchestrator.plan.slots import lots_by_key, tasks_by_lot
from orchestrator.runs.known.sync import sync
from orchestrator.runs.written.anchor import check_there
from orchestrator.wire.beside.markers import Limit, covers
from orchestrator.wire.result import TaskState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.plan.plan import Plan
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.written.anchor import Anchor


def change_limit(anchor: Anchor, slots: Mapping[str, int], ledger: Ledger, cloud: Cloud) -> None:
    """Let the run hold no more than so many instances at once, by what is limited; without any, lift the limit.

    UsageError if the plan has not what is named, or the run has ended: then a limit can be lifted only. Refused for
    more than tasks and quotas allow.

    The limit comes first, and nothing begins from then on. Then what runs is counted, and the limit holds.
    """
    check_there(cloud.s3, anchor.name)
    for what, instances in slots.items():
        _check(anchor.plan, what, instances)
    sync(anchor, ledger, cloud, documents=False)
    if slots and not ledger.unfinished(anchor.name, anchor.tasks):
        raise UsageError(f"run {anchor.name!r} has ended", hint=f"`sweep status {anchor.name}` says how")
    turns = Turns(cloud.control(anchor.name))
    limit = Limit(dict(slots), set_at=time.time())
    before = turns.limit()
    if limit.slots and not (before.slots and before.counted):
        turns.set_limit(Limit(limit.slots, counted=False, set_at=limit.set_at))
        sync(anchor, ledger, cloud, documents=False)
        _count(anchor, ledger, turns)
    turns.set_limit(limit)
    sync(anchor, ledger, cloud, documents=False)


def most_slots(plan: Plan, what: str = "") -> int:
    """Return how many instances of a Region, a lane, or of all together, tasks and quotas allow at once.

    The plan may count on fewer: others had the rest when it was made.
    """
    lots, units = lots_by_key(plan), {fact.quota: fact.units for fact in plan.quotas}
    most = 0
    for key, counts in tasks_by_lot(plan).items():
        if covers(what, key.lane):
            uses = lots[key].quotas if key in lots else {}
            allowed = [units[quota] // each for quota, each in uses.items() if quota in units and each]
            most += min([sum(instances * count for instances, count in counts.items()), *allowed])
    return most


def _check(plan: Plan, what: str, instances: int) -> None:
    lanes = {place.lane for share in plan.shares for place in share.places}
    if not any(covers(what, lane) for lane in lanes):
        names = sorted({lane.region for lane in lanes} | {str(lane) for lane in lanes})
        hint = did_you_mean(what, names) or f"it has {', '.join(names[:4])}"
        raise UsageError(f"{what!r} is no Region and no lane of the plan", where="--slots", hint=hint)
    most = most_slots(plan, what)
    if most and instances > most:
        where = f" in {what}" if what else ""
        raise Refused(
            f"{instances:,} slots are more than the {most:,} that tasks and quotas allow{where}",
            hint="`sweep quotas` shows them; a plan knows those of its day",
        )


def _count(anchor: Anchor, ledger: Ledger, turns: Turns) -> None:
    """Write down what starts or runs: launchers that wait count it."""
    counted = turns.running()
    for state in (TaskState.STARTING, TaskState.RUNNING):
        for known in ledger.known(anchor.name, state=state):
            last = known.result.outcomes[-1] if known.result.outcomes else None
            task = known.result.task
            if last and (last.lane, last.instances) not in counted.get(task, ()):
                turns.note_running(task, last.lane, last.instances)
