"""Which tasks were submitted, and never sent: whoever submitted or retried them was ended on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.wire.ranges import Ranges

if TYPE_CHECKING:
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.runs.written.submission import Submission

LATE_S = 600.0
"""Seconds after which arrays are called late: until then, whoever submits them may still be at it."""


def find_unsent(anchor: Anchor, made: list[Submission], ledger: Ledger, now: float) -> tuple[Ranges, float]:
    """Return the tasks of late arrays that are not known to have become jobs, and the seconds since the first of them.

    The ledger must have looked for the jobs. What a cancel has ended needs no job.
    """
    if ledger.cancelled(anchor.name):
        return Ranges(), 0.0
    tasks, longest = Ranges(), 0.0
    for submission in made:
        age = now - (submission.made_at or anchor.created_at)
        arrays = ledger.unsent(anchor.name, submission)
        left = Ranges.union(ledger.unfinished(anchor.name, array.tasks) for array in arrays)
        if left and age > LATE_S:
            tasks, longest = Ranges.union([tasks, left]), max(longest, age)
    return tasks, longest
