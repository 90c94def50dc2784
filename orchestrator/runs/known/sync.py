"""Bring the ledger up to date with the control bucket, and settle the tasks whose launchers died without a word."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.runs.ending.late import find_late
from orchestrator.runs.ending.lost import find_lost
from orchestrator.runs.ending.over import conclude_if_over
from orchestrator.runs.ending.settle import settle_all
from orchestrator.runs.known.documents import read_documents, read_tasks, read_whole
from orchestrator.runs.known.gone import note_gone_submissions
from orchestrator.runs.known.lease import held, renew
from orchestrator.runs.known.news import read_news
from orchestrator.runs.known.orders import read_orders
from orchestrator.runs.written.submission import everything
from orchestrator.wire.ranges import Ranges

if TYPE_CHECKING:
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.known.orders import Orders
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.runs.written.submission import Submission

WHOLE_EVERY_S = 900.0
"""Seconds after which all results are compared again with what news have told."""


def sync(anchor: Anchor, ledger: Ledger, cloud: Cloud, *, documents: bool = True, whole: bool = False) -> int:
    """Learn how every task stands, then settle tasks whose launcher is gone. Return how many tasks changed.

    With `documents`, the results themselves are read where they have changed: reasons, metrics, curves and what each
    attempt cost. With `whole`, all results are compared with what is known, whoever may have told of them. Without
    either, three listings are enough if there is nothing new.

    Only at its home is anything said of a run's launchers: elsewhere they are not known, which proves nothing.
    """
    known = len(ledger.submissions(anchor.name))
    orders = read_orders(anchor, ledger, cloud)
    made = orders.made
    ledger.mark_cancelled(anchor.name, orders.cancelled)
    at_home = not cloud.elsewhere(anchor.home)
    if at_home:
        find_jobs(anchor, made, ledger, cloud)
    moved = read_news(anchor, made, ledger, cloud)
    if whole or _is_due(anchor, made, ledger):
        moved += read_whole(anchor, made, ledger, cloud)
        if at_home:
            late = find_late(anchor, made, ledger, cloud)
            read_tasks(late, anchor, made, ledger, cloud)
            moved += len(late)
    numbers = {one.number for one in made}
    note_gone_submissions(anchor, numbers, ledger.newest_submission(anchor.name), ledger, cloud)
    lost = find_lost(anchor, made, orders.marker.through, ledger, cloud) if at_home else {}
    # Whoever wrote a result before us may have been killed before it told of it: so these are read themselves.
    read_tasks(settle_all(anchor, made, lost, cloud), anchor, made, ledger, cloud)
    stopped = _end_waiting(anchor, orders, ledger, cloud, at_home=at_home)
    if documents:
        read_documents(anchor, made, ledger, cloud)
    if moved or lost or stopped or len(made) > known or not held(anchor.name, ledger):
        renew(anchor, ledger)
    return moved + len(lost)


def read_results(anchor: Anchor, ledger: Ledger, cloud: Cloud, *, documents: bool) -> int:
    """Learn from results alone how tasks stand: what was ordered of the run cannot be understood.

    Return how many tasks changed. What lies in submissions that are not known goes by the results' own words.
    """
    known = [one for one in ledger.submissions(anchor.name) if one.number > 1]
    made = [everything(anchor.plan), *known]  # the first submission has all tasks, whatever its parts
    moved = read_news(anchor, made, ledger, cloud) + read_whole(anchor, made, ledger, cloud)
    if documents:
        read_documents(anchor, made, ledger, cloud)
    return moved


def find_jobs(anchor: Anchor, made: list[Submission], ledger: Ledger, cloud: Cloud) -> None:
    """Note the jobs of arrays that another machine has submitted."""
    for submission in made:
        for array in ledger.unsent(anchor.name, submission):
            job = cloud.batch.find(array.name, cloud.queue(array.lot))
            if job is not None:
                ledger.record(array, job)


def _is_due(anchor: Anchor, made: list[Submission], ledger: Ledger) -> bool:
    """Return whether all results are to be compared: now and then, once when all tasks have ended, and once later.

    What began late, after its launcher had died, is there by then.
    """
    progress = ledger.progress(anchor.name)
    is_time = time.time() - progress.whole_at >= WHOLE_EVERY_S
    if ledger.ended(anchor.name, anchor.tasks) < len(anchor.tasks):
        return is_time
    if progress.final_for != len(made):
        ledger.save_progress(anchor.name, replace(progress, final_for=len(made)))
        return True
    if not is_time or progress.late_for == len(made):
        return False
    ledger.save_progress(anchor.name, replace(progress, late_for=len(made)))
    return True


def _end_waiting(anchor: Anchor, orders: Orders, ledger: Ledger, cloud: Cloud, *, at_home: bool) -> bool:
    """Note which tasks a cancel has ended before they began. Return whether that is new of any."""
    made, ended = orders.made, orders.marker.ended
    goes_on = at_home and orders.cancelled and ended < orders.marker.through
    if goes_on and conclude_if_over(anchor, made, ledger, cloud):
        ended = orders.marker.through
        read_whole(anchor, made, ledger, cloud)
    if not ended:
        return False
    newer = Ranges.union(submission.tasks for submission in made if submission.number > ended)
    theirs = Ranges.union(submission.tasks for submission in made if submission.number <= ended).minus(newer)
    return ledger.end_waiting(anchor.name, theirs)
