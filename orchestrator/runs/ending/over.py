"""Ends a cancel that was interrupted: once all has stopped by itself, somebody has to say so."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from orchestrator.runs.ending.arrays import ArrayJobs
from orchestrator.runs.ending.settle import settle_all
from orchestrator.runs.ending.stop import OpenAttempts

if TYPE_CHECKING:
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.runs.written.submission import Submission

LATE_S = 600.0
"""Seconds after which an attempt that was recorded, and is not found, is taken never to have begun."""


def conclude_if_over(anchor: Anchor, made: list[Submission], ledger: Ledger, cloud: Cloud) -> bool:
    """Return whether nothing of a cancelled run can run any more. If so, its marker says so from now on."""
    if ledger.begun(anchor.name) or ArrayJobs(anchor, made, made[-1].number, cloud).alive():
        return False
    through = made[-1].number
    attempts = OpenAttempts(anchor, through, ledger, cloud)
    attempts.find()
    attempts.stop()
    late = time.time() - LATE_S
    if attempts.hidden or any(one.recorded_at > late for one in attempts.alive.values()):
        return False
    left = attempts.ended | set(attempts.unborn)
    if settle_all(anchor, made, dict.fromkeys(left, "cancelled"), cloud) != left:
        return False
    cloud.control(anchor.name).conclude_cancel(through)
    return True
