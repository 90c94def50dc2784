"""What holds launchers back by our own will: the run's limit, and canaries that are not done yet."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from orchestrator.aws.turns import Turns
from orchestrator.errors import Damaged, NewerVersion
from orchestrator.runs.why.hindrance import Hindrance
from orchestrator.wire.result import TaskState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.known.rows import Known
    from orchestrator.runs.written.anchor import Anchor


def find_turns(anchor: Anchor, known: list[Known], ledger: Ledger, cloud: Cloud) -> Iterator[Hindrance]:
    """Yield what lets tasks wait for their turn. Launchers that wait for it write nothing down."""
    turns = Turns(cloud.control(anchor.name))
    try:
        yield from _limit(anchor, turns)
        yield from _canaries(anchor, known, turns)
    except (Damaged, NewerVersion) as error:
        ledger.damage.note(error)


def _limit(anchor: Anchor, turns: Turns) -> Iterator[Hindrance]:
    limit = turns.limit()
    if limit.slots:
        words = ", ".join(f"{instances:,} in {what or 'all'}" for what, instances in sorted(limit.slots.items()))
        running = sum(instances for held in turns.running().values() for _, instances in held)
        what = f"the run is limited to slots: {words}; {running:,} are held"
        yield Hindrance(0, what, f"`sweep limit {anchor.name} --slots` changes it, `--off` lifts it", "")


def _canaries(anchor: Anchor, known: list[Known], turns: Turns) -> Iterator[Hindrance]:
    states = {one.result.task: one.state for one in known}
    wanted = anchor.plan.sweep.canary
    lanes = {share.places[0].lane for share in anchor.plan.shares} if wanted else ()
    for lane in sorted(lanes):
        ahead = []
        for number in count(1):
            canary = turns.canary(lane, number)
            if canary is None:
                break
            ahead.append(canary.task)
        done = sum(states.get(task) is TaskState.DONE for task in set(ahead))
        if ahead and done < wanted:
            what = f"the other tasks of {lane} wait until {wanted - done} more of those that went ahead are done"
            hint = f"`sweep logs {anchor.name} --task {ahead[-1]} -f` follows one"
            yield Hindrance(0, what, hint, ",".join(map(str, sorted(set(ahead)))))
