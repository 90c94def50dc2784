"""Cancel a run: stop all of it, and return only when nothing of it can run any more."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.errors import Damaged, Unreachable, UsageError
from orchestrator.runs.ending.arrays import ArrayJobs
from orchestrator.runs.ending.proof import prove
from orchestrator.runs.ending.settle import settle_all
from orchestrator.runs.ending.stop import OpenAttempts
from orchestrator.runs.known.documents import read_whole
from orchestrator.runs.known.sync import read_results, sync
from orchestrator.runs.patience import Patience
from orchestrator.runs.written.anchor import add_submission, check_there, newest_number, submissions
from orchestrator.runs.written.submission import everything, latest

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.aws.control import Control
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.ending.proof import Stopped
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.runs.written.submission import Submission

AGAIN_S = 1.0
"""Seconds between two rounds of a cancel, at the least: Batch and the platforms take their time to stop."""
LOOKS_A_SECOND = 5
"""Trainings that are looked at in a second, at the most."""
LATE_POLLS = 2
"""Poll intervals for which a start is waited for whose launcher is gone: its request may still be under way."""
LATE_S = 3.0
"""Seconds for which it is waited for at the least: AWS may answer for a moment with what was true before."""


def cancel(anchor: Anchor, ledger: Ledger, cloud: Cloud, sleep: Callable[[float], None] = time.sleep) -> list[Stopped]:
    """Stop everything, and return only when nothing runs any more: what was asked where. Killed, call it again.

    UsageError if the run has ended by itself: then there is nothing to stop, and it stays as it is.

    The marker comes first, so that nothing new starts. Then every array of the run's names is terminated, whoever
    submitted it, and every attempt is stopped that was ever recorded. A training that slipped through is stopped by its
    launcher, which looks at the marker after each start, or by the next round here.
    """
    cloud.refuse_elsewhere(anchor.name, anchor.home)
    patience = Patience(sleep)
    patience.ask(lambda: check_there(cloud.s3, anchor.name))
    made, through = patience.ask(lambda: _orders(anchor, ledger, cloud))
    control = cloud.control(anchor.name)
    arrays = ArrayJobs(anchor, made, through, cloud)

    def look(*, documents: bool = False) -> None:
        patience.ask(lambda: _look(anchor, ledger, cloud, documents=documents))

    if patience.ask(lambda: _cancelled_through(control, ledger)) < through:
        look()
        if not ledger.unfinished(anchor.name, anchor.tasks) and not patience.ask(arrays.alive):
            raise UsageError(f"run {anchor.name!r} has ended", hint=f"`sweep status {anchor.name}` says how")
    patience.ask(lambda: control.cancel(through))
    look()
    attempts = OpenAttempts(anchor, through, ledger, cloud)
    _stop_all(arrays, attempts, patience, sleep, max(LATE_S, LATE_POLLS * cloud.account.poll_s))
    patience.ask(lambda: read_whole(anchor, made, ledger, cloud))
    left = {task for task in ledger.begun(anchor.name) if latest(made, task).number <= through}
    left |= attempts.ended | set(attempts.unborn)
    _settle(anchor, made, left, cloud, patience)
    if attempts.hidden:
        raise next(iter(attempts.hidden.values()))
    patience.ask(lambda: control.conclude_cancel(through))
    look(documents=True)
    return prove(cloud.account.region, arrays, attempts)


def _orders(anchor: Anchor, ledger: Ledger, cloud: Cloud) -> tuple[list[Submission], int]:
    """Return the submissions of a run, and the number of the newest.

    Where one cannot be understood, that is noted, and they are what was known of them. Their arrays are found by name.
    """
    try:
        # A submit may be about to make the first submission: then it finds it made, and cancelled.
        add_submission(cloud.s3, anchor.name, everything(anchor.plan))
        made = list(submissions(cloud.s3, anchor.name))
    except Damaged as error:
        ledger.damage.note(error)
        made, newest = ledger.submissions(anchor.name), newest_number(cloud.s3, anchor.name)
        if not made or made[-1].number < newest:
            made.append(replace(everything(anchor.plan), number=newest))  # it may be about any task
        return made, newest
    return made, made[-1].number


def _look(anchor: Anchor, ledger: Ledger, cloud: Cloud, *, documents: bool) -> None:
    """Bring the database up to date; by the results alone, with a note, where orders cannot be understood."""
    try:
        sync(anchor, ledger, cloud, documents=documents, whole=True)
    except Damaged as error:
        ledger.damage.note(error)
        read_results(anchor, ledger, cloud, documents=documents)


def _cancelled_through(control: Control, ledger: Ledger) -> int:
    """Return up to which submission the run is cancelled. A marker that cannot be understood is noted, and replaced."""
    try:
        return control.cancel_marker().through
    except Damaged as error:
        ledger.damage.note(error)
        return 0


def _settle(anchor: Anchor, made: list[Submission], left: set[int], cloud: Cloud, patience: Patience) -> None:
    """Write down how each of these tasks has ended."""

    def settle() -> None:
        left.difference_update(settle_all(anchor, made, dict.fromkeys(left, "cancelled"), cloud))
        if left:
            raise Unreachable(f"how {len(left):,} tasks have ended is not known yet")

    patience.ask(settle)


def _stop_all(
    arrays: ArrayJobs, attempts: OpenAttempts, patience: Patience, sleep: Callable[[float], None], late_s: float
) -> None:
    """Stop arrays and attempts, round after round, until all have ended, or are proven never to have begun.

    An attempt that is not found `late_s` seconds after the last launcher has ended never began.
    """
    patience.ask(attempts.find)
    waited, arrays_ended = 0.0, False
    while True:
        if not arrays_ended and not arrays.terminate():
            arrays_ended = True
            patience.ask(attempts.find)  # launchers that have ended meanwhile may have recorded one more
        attempts.stop()
        never_begun = attempts.alive.keys() == attempts.unborn.keys() and (waited >= late_s or not attempts.unborn)
        if arrays_ended and never_begun:
            return
        pause = max(AGAIN_S, len(attempts.alive) / LOOKS_A_SECOND)
        waited += pause if arrays_ended else 0.0
        sleep(pause)
