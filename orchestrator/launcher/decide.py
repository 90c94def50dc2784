"""Chooses what comes next for a task, from what was tried. Pure: it has no time of its own, no chance, no AWS.

| how the last attempt ended     | what comes next                                                             |
| ---                            | ---                                                                         |
| done                           | the end                                                                     |
| the task's own failure         | once more at the same place while it has retries left; then the end         |
| out of time                    | the end: it would run out of it again                                       |
| no capacity                    | the same place until its patience is over; then the next; after the last, the end |
| interrupted, a service's fault | the same place; after 20 in a row, the end                                  |
| stopped                        | the end                                                                     |

A task that has a deadline and keeps checkpoints goes where keep_deadline.py says: when it begins, and when a training
was refused, interrupted, or has come to the end of the stretch it was started for.

A place is passed over when the dollars left do not pay for a minute of it. Places that one request asks for are one:
they are refused together.

What does not depend on how attempts ended, drive.py decides itself: a call refused for a quota, throttling or a lost
connection waits and is tried again (`Driver.drive`), and a SIGTERM without a cancel makes the launcher exit so that
Batch restarts it (`Driver._on_sigterm`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING

from orchestrator.launcher.keep_deadline import choose_stretch, has_time_left
from orchestrator.wire.exits import Exit
from orchestrator.wire.result import Cause, Result, TaskState
from orchestrator.wire.task import KEPT_BACK_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.launcher.tried import Tried
    from orchestrator.wire.task import Place, Task

SHORTEST_S = 60
"""Seconds of a training that is just worth starting."""

INTERRUPTIONS = 20
"""Interruptions in a row after which a task is given up. Spot interruptions are restarted by the platform itself and
never come here. So many failures of the service mean that it cannot run this training; each may have been billed."""


@dataclass(frozen=True)
class Start:
    """Another attempt, at this place, for so long at the most."""

    place: int
    max_runtime_s: int
    refusals: int = 0
    """Refusals and interruptions in a row before it: the more there were, the longer the launcher waits."""
    max_wait_s: int = 0
    """Seconds that it may run and wait together, where that is less than the task's limits say; else 0."""


@dataclass(frozen=True)
class End:
    """The end of the task: how it stands for good, and the launcher's exit code."""

    state: TaskState
    exit: Exit
    reason: str = ""


def decide(task: Task, tried: Sequence[Tried], spent: float, now: float) -> Start | End:
    """Return the next attempt, or the end, after these attempts of this submission, all of which have ended.

    `spent` is in dollars and over the task's whole life, earlier submissions included; `now` is in seconds since the
    epoch.
    """
    if not tried:
        return _start_in_time(task, tried, spent, now) or _start(task, 0, spent, 0)
    last = tried[-1].outcome
    if last.state is TaskState.DONE:
        return End(TaskState.DONE, Exit.DONE)
    if last.cause is Cause.STOPPED:
        return End(TaskState.CANCELLED, Exit.CANCELLED, last.reason)
    if last.cause is Cause.CAPACITY or (last.cause is Cause.TIMEOUT and has_time_left(task, tried)):
        return _start_in_time(task, tried, spent, now) or _after_capacity(task, tried, spent, now)
    if last.cause is Cause.INTERRUPTED:
        return _after_interruption(task, tried, spent, now)
    failures = sum(one.outcome.cause is Cause.TASK for one in tried)
    if last.cause is Cause.TASK and failures <= task.limits.retries:
        return _start(task, tried[-1].attempt.place, spent, 0)
    return End(TaskState.FAILED, exit_of_failure(last.cause), last.reason)


def exit_of(result: Result) -> Exit:
    """Return the exit code of a launcher that finds its task ended."""
    if result.state is TaskState.DONE:
        return Exit.DONE
    if result.state is TaskState.CANCELLED:
        return Exit.CANCELLED
    return exit_of_failure(result.outcomes[-1].cause if result.outcomes else Cause.NONE)


def exit_of_failure(cause: Cause) -> Exit:
    """Return the exit code for a failed task whose last attempt ended for this cause."""
    return Exit.TASK_WRONG if cause in {Cause.TASK, Cause.TIMEOUT} else Exit.UNAVAILABLE


def _start_in_time(task: Task, tried: Sequence[Tried], spent: float, now: float) -> Start | End | None:
    """Return a start by which the task's deadline is kept as cheaply as may be; None if it has none to be kept so.

    All its attempts together run no longer than its limits allow one of them.
    """
    stretch = choose_stretch(task, tried, now)
    if stretch is None:
        return None
    step = _start(task, stretch.place, spent, _refused_in_a_row(tried))
    if isinstance(step, End):
        return step
    unused = max(task.limits.max_runtime_s - int(sum(one.outcome.seconds for one in tried)), SHORTEST_S)
    seconds = min(step.max_runtime_s, unused)
    if stretch.seconds is None or step.place != stretch.place:
        return replace(step, max_runtime_s=seconds)
    wait = max(stretch.seconds, SHORTEST_S)
    return replace(step, max_runtime_s=min(seconds, wait), max_wait_s=wait)


def _refused_in_a_row(tried: Sequence[Tried]) -> int:
    """Return how many of the last attempts were refused or interrupted at one place before they had run at all."""
    if not tried or tried[-1].outcome.seconds:
        return 0
    return len([one for one in _streak(tried) if not one.outcome.seconds])


def _after_interruption(task: Task, tried: Sequence[Tried], spent: float, now: float) -> Start | End:
    times = len(_streak(tried))
    if times < INTERRUPTIONS:
        return _start_in_time(task, tried, spent, now) or _start(task, tried[-1].attempt.place, spent, times)
    reason = f"interrupted {times} times in a row: {tried[-1].outcome.reason}"
    return End(TaskState.FAILED, exit_of_failure(Cause.INTERRUPTED), reason)


def _after_capacity(task: Task, tried: Sequence[Tried], spent: float, now: float) -> Start | End:
    refused = _streak(tried)
    first = refused[0]
    since = first.outcome.ended_at or first.attempt.recorded_at
    place = first.attempt.place
    if now - since < task.limits.patience_s:
        return _start(task, place, spent, len(refused))
    after = place + len(task.together(task.places[place]))
    if after < len(task.places):
        return _start(task, after, spent, 0)
    places = "its only place" if len(task.places) == 1 else f"any of its {len(task.places)} places"
    return End(TaskState.FAILED, Exit.UNAVAILABLE, f"no capacity at {places}: {tried[-1].outcome.reason}")


def _streak(tried: Sequence[Tried]) -> list[Tried]:
    """Return the last attempts that ended the same way at the same place, oldest first."""
    last = tried[-1]
    alike = takewhile(
        lambda one: (one.attempt.place, one.outcome.cause) == (last.attempt.place, last.outcome.cause), reversed(tried)
    )
    return list(alike)[::-1]


def _start(task: Task, at: int, spent: float, refusals: int) -> Start | End:
    """Return a start at this place, or at the next one that the dollars left can pay for; else the end."""
    for place in range(at, len(task.places)):
        seconds = _affordable_s(task, task.places[place], spent)
        if seconds is None:
            return Start(place, task.limits.max_runtime_s, refusals)
        if seconds >= SHORTEST_S:
            return Start(place, min(task.limits.max_runtime_s, seconds), refusals)
    reason = f"${spent:.2f} of its ${task.limits.envelope:.2f} are spent, and the rest pays for no further attempt"
    return End(TaskState.FAILED, Exit.UNAVAILABLE, reason)


def _affordable_s(task: Task, place: Place, spent: float) -> int | None:
    """Return the seconds for which the rest of the envelope pays for this place; None when nothing bounds them.

    Of places that are asked for together, the dearest may be the one that is taken.
    """
    rate = max(each.hourly_usd for each in task.together(place))
    if task.limits.envelope is None or rate <= 0:
        return None
    return int((task.limits.envelope - spent) / rate * 3600) - KEPT_BACK_S
