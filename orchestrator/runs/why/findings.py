"""What holds a run up, in words, each with what to do: asked of Batch, the platforms and what is written down."""

from __future__ import annotations

from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING

from orchestrator.runs.sending.payable import FOR_LIFE, find_shortages
from orchestrator.runs.views.logs import Logs
from orchestrator.runs.why.hindrance import MOST, Hindrance, few, in_minutes
from orchestrator.runs.why.refused import find_refused
from orchestrator.runs.why.turns import find_turns
from orchestrator.runs.why.unsent import find_unsent
from orchestrator.runs.why.waiting import find_waiting
from orchestrator.runs.why.without_machines import find_held_back, find_without_machines
from orchestrator.runs.written.submission import latest
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.reasons import without_numbers
from orchestrator.wire.result import TaskState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.known.rows import Known
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.runs.written.submission import Submission
    from orchestrator.wire.result import Result

SILENT_S = 900.0
"""Seconds without a word after which something is called silent."""
SLOW = 1.5
"""A training that runs for so many times its planned hours is called slow."""


def find_causes(anchor: Anchor, made: list[Submission], ledger: Ledger, cloud: Cloud, now: float) -> list[Hindrance]:
    """Return all that holds a run up, or has ended its tasks, what concerns most tasks first of each kind."""
    known = list(ledger.known(anchor.name))
    at_home = not cloud.elsewhere(anchor.home)
    found = [*_failed(anchor, known, ledger), *find_refused(anchor, known), *find_held_back(known)]
    if not made:
        hint = f"submit it again: `sweep submit` goes on with {anchor.name}"
        return [*found, Hindrance(anchor.plan.tasks, "nothing was submitted yet", hint, "")]
    if at_home:
        found += _unsent(anchor, made, ledger, now)
        found += _waiting(anchor, made, ledger, cloud, now)
        turns = list(find_turns(anchor, known, ledger, cloud)) if ledger.unfinished(anchor.name, anchor.tasks) else []
        found += turns or _silent_launchers(anchor, made, known, ledger, cloud, now)
    else:
        found.append(Hindrance(0, f"Batch was not asked: {cloud.elsewhere(anchor.home)}", "ask at its home", ""))
    return [*found, *find_without_machines(known, now), *_slow_trainings(anchor, known, cloud, ledger, now)]


def _failed(anchor: Anchor, known: list[Known], ledger: Ledger) -> Iterator[Hindrance]:
    """Yield the reasons of failed tasks."""
    alike: dict[str, list[Result]] = defaultdict(list)
    for one in known:
        if one.state is TaskState.FAILED:
            alike[without_numbers(one.result.reason)].append(one.result)
    most_first = sorted(alike.values(), key=len, reverse=True)
    for failed in most_first[:MOST]:
        tasks = Ranges.of(one.task for one in failed)
        again = f"`sweep retry {anchor.name}` runs again what is not done"
        if len(find_shortages(anchor, tasks, ledger)) == len(tasks):
            again = f"no retry is paid for: {FOR_LIFE}"
        hint = f"`sweep logs {anchor.name} --task {failed[0].task}` shows all it wrote; {again}"
        yield Hindrance(len(failed), f"failed: {failed[0].reason or 'no reason was given'}", hint, few(tasks))
    if others := [one.task for failed in most_first[MOST:] for one in failed]:
        hint = f"`sweep results {anchor.name}` tells why each has failed"
        yield Hindrance(len(others), "failed for other reasons", hint, few(Ranges.of(others)))


def _unsent(anchor: Anchor, made: list[Submission], ledger: Ledger, now: float) -> Iterator[Hindrance]:
    """Yield the tasks that nobody has sent."""
    tasks, age = find_unsent(anchor, made, ledger, now)
    if tasks:
        what = f"were never sent: their submit or retry was ended {in_minutes(age)} ago, on its way"
        yield Hindrance(len(tasks), what, f"`sweep retry {anchor.name}` sends them", few(tasks))


def _waiting(anchor: Anchor, made: list[Submission], ledger: Ledger, cloud: Cloud, now: float) -> Iterator[Hindrance]:
    """Yield what tasks without a launcher wait for."""
    for submission in made:
        since = submission.made_at or anchor.created_at
        for one in find_waiting(anchor, ledger.arrays(anchor.name, [submission]), ledger, cloud, since):
            where = f"wait in {one.array} since {in_minutes(now - one.since)}, {one.running:,} of it run"
            words = f": {one.reason}" if one.reason else ""
            if one.quotas:
                what = f"{where}: {'; '.join(map(str, one.quotas))}{words}"
                hint = "they start as others end; a higher quota, asked of AWS, lets more run at once"
            elif one.runnable:
                what = f"{where}: Batch has no room for their launchers{words}"
                hint = "look at the queue and its compute environment in Batch: disabled, full, or without a way out"
            else:
                what, hint = f"{where}: Batch is about to start their launchers{words}", "wait a minute"
            yield Hindrance(one.tasks, what, hint, "")


def _silent_launchers(
    anchor: Anchor, made: list[Submission], known: list[Known], ledger: Ledger, cloud: Cloud, now: float
) -> Iterator[Hindrance]:
    """Yield the tasks whose launchers run, and have written nothing down for long."""
    spoken = {one.result.task for one in known if one.state is not TaskState.PENDING}
    silent: list[int] = []
    longest = 0.0
    for sent in ledger.arrays(anchor.name, made):
        if sent.job is None or not ledger.unfinished(anchor.name, sent.array.tasks):
            continue
        for child in cloud.batch.children(sent.job, "RUNNING") if len(sent.array.tasks) > 1 else ():
            task = sent.array.tasks[child.index]
            age = now - child.started_at if child.started_at else 0.0
            if task not in spoken and age > SILENT_S and latest(made, task).number == sent.array.submission:
                silent.append(task)
                longest = max(longest, age)
    if silent:
        what = f"launchers run for up to {in_minutes(longest)} and have written nothing down"
        hint = "their logs are in the launchers' log group: credentials, network or the image's Region"
        yield Hindrance(len(silent), what, hint, few(Ranges.of(silent)))


def _slow_trainings(
    anchor: Anchor, known: list[Known], cloud: Cloud, ledger: Ledger, now: float
) -> Iterator[Hindrance]:
    """Yield trainings that run for much longer than planned, and those among the longest that have written nothing."""
    running: list[tuple[float, int]] = []
    for one in known:
        last = one.result.outcomes[-1] if one.result.outcomes else None
        if one.state is TaskState.RUNNING and last and last.started_at and last.has_machines:
            running.append((now - last.started_at, one.result.task))
    running.sort(reverse=True)
    slow = [(age, task) for age, task in running if age > SLOW * 3600 * _planned_hours(anchor, task)]
    if slow:
        age, task = slow[0]
        limits = anchor.plan.share(task).limits
        planned = in_minutes(3600 * _planned_hours(anchor, task))
        what = f"run for much longer than planned, task {task} for {in_minutes(age)} instead of {planned}"
        hint = f"its time-out ends it after {in_minutes(limits.max_runtime_s)}; plan with a larger `runtime` next time"
        yield Hindrance(len(slow), what, hint, few(Ranges.of(task for _, task in slow)))
    silent = _silent_since(known)
    if silent:
        which = Ranges.of(silent)
        longest = in_minutes(now - min(silent.values()))
        what = f"their logs have had no new line for up to {longest}"
        look = f"`sweep logs {anchor.name} --task {which[0]}` shows what it wrote last"
        hint = f"{look}; `stall` in the sweep file ends such trainings"
        yield Hindrance(len(silent), what, hint, few(which))
    logs = Logs(cloud, anchor.name, ledger.damage)
    for age, task in islice(running, MOST):
        if age > SILENT_S and task not in silent and next(logs.new_lines(Ranges.of([task])), None) is None:
            what = f"runs for {in_minutes(age)}, and its log has no line"
            yield Hindrance(
                1, what, "print something, unbuffered (`python -u`); or it hangs: cancel and look", str(task)
            )


def _silent_since(known: list[Known]) -> dict[int, float]:
    """Return since when trainings have been silent, by task, as their launchers have seen it."""
    found = {}
    for one in known:
        last = one.result.outcomes[-1] if one.result.outcomes else None
        if one.state is TaskState.RUNNING and last and last.has_machines and last.silent_since is not None:
            found[one.result.task] = last.silent_since
    return found


def _planned_hours(anchor: Anchor, task: int) -> float:
    share = anchor.plan.share(task)
    return share.longest or share.hours
