"""The plan of a run as it is now: that of its anchor, with what later submissions have planned anew."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.runs.written.submission import Submission


def planned_now(anchor: Anchor, made: Iterable[Submission], through: int | None = None) -> Anchor:
    """Return the run with its plan as these submissions, in their order, have left it.

    With `through`, only those up to this number count: so it is the same for everybody who sends that one. What is
    returned is for reading, and is never written down. Applying the same submissions once more changes nothing.
    """
    plan = anchor.plan
    for submission in made:
        if submission.planned is not None and (through is None or submission.number <= through):
            plan = submission.planned.applied(plan)
    return anchor if plan is anchor.plan else replace(anchor, plan=plan)
