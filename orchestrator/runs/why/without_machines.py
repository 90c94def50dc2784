"""Tasks that were started, and have no machines just now.

Those were lost on spot, their checkpoint is on its way elsewhere, or their platform's queue lets them not begin.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from orchestrator.runs.why.hindrance import Hindrance, few, in_minutes
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.result import TaskState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.runs.known.rows import Known

MOVING = "its checkpoint is brought to where it goes on"
"""What is told where nobody has read what the launcher says."""
MOST = 5
"""The most reasons that are told: those of most tasks."""


def find_held_back(known: list[Known]) -> Iterator[Hindrance]:
    """Yield what has kept starting tasks from beginning for longer than their patience, as their platform says it."""
    alike: dict[str, list[int]] = defaultdict(list)
    for one in known:
        last = one.result.outcomes[-1] if one.result.outcomes else None
        if one.state is TaskState.STARTING and last is not None and last.waits_for:
            alike[last.waits_for].append(one.result.task)
    hint = "they begin by themselves once that is mended; `sweep cancel` gives them up"
    for reason, tasks in sorted(alike.items(), key=lambda item: len(item[1]), reverse=True)[:MOST]:
        yield Hindrance(len(tasks), f"not begun: {reason}", hint, few(Ranges.of(tasks)))


def find_without_machines(known: list[Known], now: float) -> Iterator[Hindrance]:
    """Yield what running tasks wait for that have no machines."""
    lost: dict[int, float] = {}
    between: dict[str, list[int]] = defaultdict(list)
    for one in known:
        if one.is_moving:
            between[one.result.reason or MOVING].append(one.result.task)
        elif one.lost_at is not None:
            lost[one.result.task] = one.lost_at
    if lost:
        longest = in_minutes(now - min(lost.values()))
        what = f"lost their machines on spot, and wait for others for up to {longest}"
        hint = "they cost nothing meanwhile, and go on by themselves; `on_demand` under `where` waits for none"
        yield Hindrance(len(lost), what, hint, few(Ranges.of(lost)))
    for reason, tasks in sorted(between.items(), key=lambda item: len(item[1]), reverse=True)[:MOST]:
        yield Hindrance(
            len(tasks), reason, "launchers go on by themselves; nothing trains meanwhile", few(Ranges.of(tasks))
        )
