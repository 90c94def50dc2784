"""Tasks that go on, and have no machines just now: lost on spot, or their checkpoint is on its way elsewhere."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from orchestrator.runs.why.hindrance import Hindrance, few, in_minutes
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.result import TaskState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.runs.known.rows import Known

MOST = 5
"""The most reasons that are told: those of most tasks."""


def find_without_machines(known: list[Known], now: float) -> Iterator[Hindrance]:
    """Yield what running tasks wait for that have no machines."""
    lost: dict[int, float] = {}
    between: dict[str, list[int]] = defaultdict(list)
    for one in known:
        last = one.result.outcomes[-1] if one.result.outcomes else None
        if one.state is not TaskState.RUNNING or last is None:
            continue
        if last.state.terminal and one.result.reason:
            between[one.result.reason].append(one.result.task)
        elif last.lost_at is not None:
            lost[one.result.task] = last.lost_at
    if lost:
        longest = in_minutes(now - min(lost.values()))
        what = f"lost their machines on spot, and wait for others for up to {longest}"
        hint = "they cost nothing meanwhile, and go on by themselves; `on_demand` under `where` waits for none"
        yield Hindrance(len(lost), what, hint, few(Ranges.of(lost)))
    for reason, tasks in sorted(between.items(), key=lambda item: len(item[1]), reverse=True)[:MOST]:
        yield Hindrance(
            len(tasks), reason, "launchers go on by themselves; nothing trains meanwhile", few(Ranges.of(tasks))
        )
