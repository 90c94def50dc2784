"""Finds trainings that began after their task was written down as ended: their launcher died while it started them.

Their start was under way longer than anybody waits for one. From then on they run like any other: they are counted,
`cancel` stops them, and how they end is written down.
"""

from __future__ import annotations

import logging
from itertools import islice
from typing import TYPE_CHECKING

from orchestrator.errors import AccessError, Damaged, NewerVersion, NotFound
from orchestrator.runs.ending.settle import poll, settle_all
from orchestrator.runs.known.gone import note_gone_attempts
from orchestrator.runs.patience import PASSING
from orchestrator.runs.written.submission import latest
from orchestrator.wire.result import Result, TaskState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.runs.written.submission import Submission
    from orchestrator.wire.result import Attempt, Outcome

log = logging.getLogger(__name__)

MOST = 50
"""Attempts that are looked up at one time, at the most: AWS answers few calls a second."""


def find_late(anchor: Anchor, made: list[Submission], ledger: Ledger, cloud: Cloud) -> set[int]:
    """Write down of ended tasks that a training of theirs has begun since, or has even ended. Return these tasks.

    Call it when all results have just been read. It costs a listing of all attempts, and a look at each that was
    recorded, and that nobody has ever seen.
    """
    late: set[int] = set()
    for attempt in islice(_unseen(anchor, made, ledger, cloud), MOST):
        outcome = _look(attempt, cloud)
        if outcome is None:
            continue
        log.warning("task %d: %s began after its launcher had died", attempt.task, attempt.training)
        if outcome.state.terminal:
            late |= settle_all(anchor, made, {attempt.task: "its launcher died while it started it"}, cloud)
        else:
            _write(anchor, attempt, outcome, cloud)
            late.add(attempt.task)
    return late


def _unseen(anchor: Anchor, made: list[Submission], ledger: Ledger, cloud: Cloud) -> Iterator[Attempt]:
    """Yield the newest attempt of each ended task that is not done, if nobody has seen it end."""
    control, ends, told = cloud.control(anchor.name), ledger.ends(anchor.name), ledger.attempts(anchor.name)
    recorded = control.recorded()
    note_gone_attempts(anchor, told, recorded, ledger, cloud)
    for task, number in dict(recorded).items():
        state, proven = ends.get(task, (TaskState.DONE, 0))
        if state is TaskState.DONE or number <= proven:
            continue
        try:
            attempt = control.attempt(task, number)
        except (Damaged, NewerVersion, NotFound) as error:
            ledger.damage.note(error)
            continue
        if attempt.submission == latest(made, task).number:
            yield attempt


def _look(attempt: Attempt, cloud: Cloud) -> Outcome | None:
    try:
        return poll(attempt, cloud)
    except (*PASSING, AccessError) as error:
        log.warning("%s: whether it has begun is not known: %s", attempt.training, error.message)
        return None


def _write(anchor: Anchor, attempt: Attempt, outcome: Outcome, cloud: Cloud) -> None:
    control = cloud.control(anchor.name)
    found = control.result(attempt.task)
    before = tuple(one for one in found[0].outcomes if one.number < attempt.number) if found else ()
    key = anchor.plan.task(attempt.task, code=anchor.code).key
    curves = found[0].curves if found else {}
    reason = "it began after its launcher had died"
    control.write_result(
        Result(attempt.task, key, outcome.state, reason, (*before, outcome), attempt.submission, curves)
    )
