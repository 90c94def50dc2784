"""Which tasks have dollars left for another attempt? A launcher would start none of the others."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from orchestrator.errors import Refused
from orchestrator.wire.envelope import least_usd, say_shortage
from orchestrator.wire.ranges import Ranges

if TYPE_CHECKING:
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.written.anchor import Anchor

log = logging.getLogger(__name__)

FOR_LIFE = "a task's dollars are for its whole life: plan it with a greater `budget`, as a run of its own"
"""What to do where they are spent."""


def payable(anchor: Anchor, wanted: Ranges, ledger: Ledger, *, named: bool) -> Ranges:
    """Return those of these tasks whose envelopes pay for another attempt, at the cheapest of their places.

    Refused if none does, or if one of tasks that were `named` does not; else those that do not are warned of.
    The anchor's plan must be that of now. What bringing checkpoints costs is not known here: launchers see to it.
    """
    whys = find_shortages(anchor, wanted, ledger)
    if not whys:
        return wanted
    poor = Ranges.of(whys)
    what = f"task {poor} of run {anchor.name!r}: {whys[min(whys)]}"
    if named or len(poor) == len(wanted):
        raise Refused(what, hint=FOR_LIFE)
    log.warning("left out: %s", what)
    return wanted.minus(poor)


def find_shortages(anchor: Anchor, wanted: Ranges, ledger: Ledger) -> dict[int, str]:
    """Return why the dollars left pay for no attempt, of each of these tasks of which that is so.

    A task whose result cannot be understood may need no other attempt: its new launcher finds out.
    """
    if all(share.limits.envelope is None for share in anchor.plan.shares):
        return {}
    whys, unsure = {}, ledger.damage.tasks(anchor.name)
    for number, spent in ledger.spent(anchor.name).items():
        task = anchor.plan.task(number, code=anchor.code) if number in wanted and number not in unsure else None
        if task is None or task.limits.envelope is None:
            continue
        cheapest = min(task.places, key=partial(least_usd, task))
        if task.limits.envelope - spent < least_usd(task, cheapest):
            whys[number] = say_shortage(task, spent, cheapest)
    return whys
