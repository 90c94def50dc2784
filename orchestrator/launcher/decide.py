"""Chooses what comes next for a task, from what was tried. Pure: it has no time of its own, no chance, no AWS.

| how the last attempt ended     | what comes next                                                             |
| ---                            | ---                                                                         |
| done                           | the end                                                                     |
| the task's own failure         | once more at the same place while it has retries left; then the end         |
| out of time                    | the end: it would run out of it again                                       |
| no capacity                    | the same place until its patience is over; then the next; after the last, the end |
| interrupted, a service's fault | the same place; after 20 in a row, the end                                  |
| stopped                        | the end                                                                     |

A place whose sites, such as zones, were not all asked has not refused yet: the next one is asked at once (sites.py).

A task that has a deadline and keeps checkpoints goes where keep_deadline.py says: when it begins, and when a training
was refused, interrupted, or has come to the end of the stretch it was started for.

What it was decided to move to is where it goes on, whatever the table says of a training that was stopped or refused.

A place is passed over when the dollars left do not pay for a minute of it, after the newest checkpoint is brought
there, or when it cannot be brought there. Places that one request asks for are one: they are refused together.

What does not depend on how attempts ended, drive.py decides itself: a call refused for a quota, throttling or a lost
connection waits and is tried again (`Driver.drive`), and a SIGTERM without a cancel makes the launcher exit so that
Batch restarts it (`Driver._on_sigterm`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING

from orchestrator.launcher.keep_deadline import choose_stretch, has_time_left
from orchestrator.launcher.moving.saved import NOTHING_AHEAD
from orchestrator.launcher.sites import before_the_round, count_rounds, is_in_a_round
from orchestrator.wire.envelope import hourly_usd, kept_back_s, least_usd, say_shortage
from orchestrator.wire.exits import Exit
from orchestrator.wire.result import Cause, Result, TaskState
from orchestrator.wire.task import SHORTEST_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.launcher.moving.saved import Ahead
    from orchestrator.launcher.tried import Tried
    from orchestrator.wire.task import Place, Task

FOREVER_S = 1e9
"""Seconds that no training lasts."""
INTERRUPTIONS = 20
"""Interruptions in a row after which a task is given up. Spot interruptions are restarted by the platform itself and
never come here. So many failures of the service mean that it cannot run this training; each may have been billed."""


@dataclass(frozen=True)
class Start:
    """Another attempt, at this place, for so long at the most."""

    place: int
    max_runtime_s: int
    refusals: int = 0
    """Times that its place was asked in vain before it: the more there were, the longer the launcher waits."""
    max_wait_s: int = 0
    """Seconds that it may run and wait together, where that is less than the task's limits say; else 0."""
    site: str = ""
    """Which of the place's sites is asked; empty if it has none of its own to choose from."""


@dataclass(frozen=True)
class End:
    """The end of the task: how it stands for good, and the launcher's exit code."""

    state: TaskState
    exit: Exit
    reason: str = ""


def decide(task: Task, tried: Sequence[Tried], spent: float, now: float, ahead: Ahead = NOTHING_AHEAD) -> Start | End:
    """Return the next attempt, or the end, after these attempts of this submission, all of which have ended.

    `spent` is in dollars and over the task's whole life, earlier submissions included; `now` is in seconds since the
    epoch.
    """
    choice = _Choice(task, tried, spent, now, ahead)
    if not tried:
        return choice.start_in_time() or choice.start(ahead.moves_to or 0)
    last = tried[-1].outcome
    if last.state is TaskState.DONE:
        return End(TaskState.DONE, Exit.DONE)
    may_go_on = last.cause is Cause.CAPACITY or (last.cause is Cause.TIMEOUT and has_time_left(task, tried))
    if ahead.moves_to is not None and (may_go_on or last.cause in {Cause.STOPPED, Cause.INTERRUPTED}):
        return choice.start_in_time() or choice.start(ahead.moves_to)
    if last.cause is Cause.STOPPED:
        return End(TaskState.CANCELLED, Exit.CANCELLED, last.reason)
    if may_go_on:
        return choice.start_in_time() or choice.after_capacity()
    if last.cause is Cause.INTERRUPTED:
        return choice.after_interruption()
    failures = sum(one.outcome.cause is Cause.TASK for one in tried)
    if last.cause is Cause.TASK and failures <= task.limits.retries:
        return choice.start(tried[-1].attempt.place)
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


def _listed(regions: frozenset[str]) -> str:
    return ", ".join(sorted(regions))


@dataclass(frozen=True)
class _Choice:
    """All that the next step of a task is chosen from."""

    task: Task
    tried: Sequence[Tried]
    spent: float
    now: float
    ahead: Ahead

    def start_in_time(self) -> Start | End | None:
        """Return a start by which the task's deadline is kept as cheaply as may be; None if it has none to be kept so.

        All its attempts together run no longer than its limits allow one of them.
        """
        known = before_the_round(self.ahead.sites, self.tried)
        stretch = choose_stretch(self.task, known, self.now, self.ahead)
        if stretch is None:
            return None
        step = self.start(stretch.place)
        if isinstance(step, End):
            return step
        step = replace(step, refusals=self._refusals_of(step.place))
        used = int(sum(one.outcome.seconds for one in self.tried))
        seconds = min(step.max_runtime_s, max(self.task.limits.max_runtime_s - used, SHORTEST_S))
        if stretch.seconds is None or step.place != stretch.place:
            return replace(step, max_runtime_s=seconds)
        wait = max(stretch.seconds, SHORTEST_S)
        return replace(step, max_runtime_s=min(seconds, wait), max_wait_s=wait)

    def after_interruption(self) -> Start | End:
        times = len(self._streak())
        if times < INTERRUPTIONS:
            return self.start_in_time() or self.start(self.tried[-1].attempt.place, times)
        reason = f"interrupted {times} times in a row: {self.tried[-1].outcome.reason}"
        return End(TaskState.FAILED, exit_of_failure(Cause.INTERRUPTED), reason)

    def after_capacity(self) -> Start | End:
        refused, places = self._streak(), self.task.places
        first = refused[0]
        since = first.outcome.ended_at or first.attempt.recorded_at
        place = first.attempt.place
        in_a_round = is_in_a_round(self.ahead.sites, self.tried)
        if in_a_round or self.now - since < self.task.limits.patience_s:
            return self.start(place, 0 if in_a_round else count_rounds(self.ahead.sites, self.tried))
        after = place + len(self.task.together(places[place]))
        if after < len(places):
            return self.start(after)
        where = "its only place" if len(places) == 1 else f"any of its {len(places)} places"
        reason = f"no capacity at {where}: {self.tried[-1].outcome.reason}"
        return End(TaskState.FAILED, Exit.UNAVAILABLE, reason)

    def start(self, at: int, refusals: int = 0) -> Start | End:
        """Return a start at this place, or at the next one that the dollars left can pay for; else the end."""
        closed = self.ahead.closed
        places = [n for n in range(at, len(self.task.places)) if self.task.places[n].lane.region not in closed]
        if not places:
            return End(TaskState.FAILED, Exit.UNAVAILABLE, f"its checkpoint cannot be brought to {_listed(closed)}")
        for place in places:
            seconds = self._affordable_s(self.task.places[place])
            if seconds is None:
                return Start(place, self.task.limits.max_runtime_s, refusals)
            if seconds >= SHORTEST_S:
                return Start(place, min(self.task.limits.max_runtime_s, seconds), refusals)
        cheapest = min((self.task.places[n] for n in places), key=self._least_usd)
        moving = self.ahead.usd_to(cheapest.lane.region)
        reason = say_shortage(self.task, self.spent, cheapest, moving) + self._copy_in_words(cheapest.lane.region)
        return End(TaskState.FAILED, Exit.UNAVAILABLE, reason)

    def _least_usd(self, place: Place) -> float:
        return least_usd(self.task, place) + self.ahead.usd_to(place.lane.region)

    def _copy_in_words(self, region: str) -> str:
        """Return what bringing the checkpoint to a Region costs; nothing if it is free."""
        saved, usd = self.ahead.saved, self.ahead.usd_to(region)
        if saved is None or not usd:
            return ""
        return f", and ${usd:.{2 if usd >= 1 else 4}f} for the copy of its checkpoint of {saved.gb:.3g} GB to {region}"

    def _affordable_s(self, place: Place) -> int | None:
        """Return the seconds for which the rest of the envelope pays for this place; None when nothing bounds them.

        Bringing the checkpoint there is paid first.
        """
        rate = hourly_usd(self.task, place)
        moving, envelope = self.ahead.usd_to(place.lane.region), self.task.limits.envelope
        if envelope is None or (rate <= 0 and not moving):
            return None
        left = envelope - self.spent - moving
        if rate <= 0:
            return self.task.limits.max_runtime_s if left >= 0 else 0
        # A price of next to nothing pays for ever.
        return int(min(left / rate * 3600, FOREVER_S)) - kept_back_s(self.task, place)

    def _refusals_of(self, place: int) -> int:
        """Return how often a place was asked in vain since the task ran last, whatever was asked in between.

        Where several places refuse in turn, each of them is asked less and less often. Sites of a place that refuse one
        after the other are one refusal, once all have; until then there is none.
        """
        if self.tried and self.tried[-1].attempt.place == place and is_in_a_round(self.ahead.sites, self.tried):
            return 0
        in_vain = takewhile(lambda one: not one.outcome.seconds, reversed(self.tried))
        by_site = Counter(one.attempt.site for one in in_vain if one.attempt.place == place)
        return min(by_site.values(), default=0)

    def _streak(self) -> list[Tried]:
        """Return the last attempts that ended the same way at the same place, oldest first."""
        last = self.tried[-1]
        end = (last.attempt.place, last.outcome.cause)
        alike = takewhile(lambda one: (one.attempt.place, one.outcome.cause) == end, reversed(self.tried))
        return list(alike)[::-1]
