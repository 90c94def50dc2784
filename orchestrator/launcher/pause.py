"""The pause of a run whose first tasks have all failed alike, by themselves, or one of whose canaries has.

It starts no more, for they would fail too.

It saves money, and nothing rests on it: whoever cannot look, or is not sure that nothing was ever done, stops nothing.
"""

from __future__ import annotations

import logging
from itertools import islice
from typing import TYPE_CHECKING

from orchestrator.errors import SweepError
from orchestrator.launcher.decide import End, Start
from orchestrator.wire.beside.markers import PAUSED
from orchestrator.wire.beside.news import News
from orchestrator.wire.exits import Exit
from orchestrator.wire.reasons import alike, shortened
from orchestrator.wire.result import Cause, TaskState

if TYPE_CHECKING:
    from orchestrator.aws.control import Control
    from orchestrator.launcher.task_history import TaskHistory
    from orchestrator.launcher.trainings import Trainings
    from orchestrator.launcher.tried import Tried
    from orchestrator.launcher.turn import Turn
    from orchestrator.wire.result import Result

log = logging.getLogger(__name__)

LOOKED_AT = 4
"""Failed tasks that are read for each failure that is needed: some have failed for want of machines, or of time."""


class Pause:
    """The pause, as the launcher of one task sees it."""

    def __init__(self, history: TaskHistory, trainings: Trainings, turn: Turn) -> None:
        self.history = history
        self.control = history.control
        self.trainings = trainings
        self.turn = turn

    def hold(self, step: Start | End) -> Start | End:
        """Return the step; the end instead of a start if the run is paused and the task has not begun."""
        if isinstance(step, End) or self._has_begun():
            return step
        template = self.trainings.template(self.history.task.places[step.place].lane)
        if not template.pause_after and not template.canary:
            return step
        reason = self.control.pause_marker().reasons.get(self.history.submission)
        return step if reason is None else End(TaskState.CANCELLED, Exit.CANCELLED, reason)

    def note_end(self, state: TaskState) -> None:
        """Pause the run if this end of our task, which is written down, was one too many of its kind."""
        last = next(reversed(self.history.tried()), None) if state is TaskState.FAILED else None
        if last is None or last.outcome.cause not in (Cause.TASK, Cause.TIMEOUT):
            return
        try:
            reason = self._why(last)
            if reason:
                log.warning("%s", reason)
                self.control.pause(self.history.submission, reason)
        except SweepError as error:
            log.warning("whether the run is to pause is left to the next launcher: %s", error)

    def _why(self, last: Tried) -> str:
        """Return in words why the run is to pause, now that our task has failed; nothing if it is to go on."""
        submission, after = self.history.submission, self.trainings.template(last.attempt.lane).pause_after
        after = after if last.outcome.cause is Cause.TASK else 0
        is_canary = self.turn.is_canary()
        if not (is_canary or after) or submission in self.control.pause_marker().reasons:
            return ""
        if not is_canary:
            return why_pause(self.control, submission, after)
        return self.turn.why_pause(self.history.task.number, last.outcome.reason)

    def _has_begun(self) -> bool:
        return any(one.outcome.cause is not Cause.CAPACITY for one in self.history.tried())


def why_pause(control: Control, submission: int, after: int) -> str:
    """Return in words why a submission is to pause; nothing if it is to go on.

    It pauses if the first `after` of its tasks that have failed by themselves have done so alike, and no task of the
    run was ever done, as far as the news and the results behind them tell.
    """
    told: set[str] = set()
    failed: dict[int, None] = {}
    for item in control.s3.list(control.keys.news):
        news = News.read(item.key.removeprefix(control.keys.news))
        if news is None or news.state is TaskState.DONE:
            return ""
        told.add(news.etag)
        if news.state is TaskState.FAILED and news.submission == submission:
            failed[news.task] = None
    reason = _common_reason(control, submission, list(failed), after)
    if reason is None or _may_be_done(control, told):
        return ""
    who = f"first {after} tasks to fail did so alike" if after > 1 else "first task to end has failed"
    return f"{PAUSED}the {who}: {shortened(reason) or 'no reason was given'}"


def _common_reason(control: Control, submission: int, tasks: list[int], after: int) -> str | None:
    """Return the reason of the first tasks that failed by themselves; None if they are too few, or differ in it."""
    reasons: list[str] = []
    for task in islice(tasks, after * LOOKED_AT):
        found = control.result(task)
        if found and _failed_by_itself(found[0], submission):
            reasons.append(found[0].reason)
            if not alike(reasons[0], reasons[-1]):
                return None
            if len(reasons) == after:
                return reasons[0]
    return None


def _failed_by_itself(result: Result, submission: int) -> bool:
    if result.state is not TaskState.FAILED or result.submission != submission or not result.outcomes:
        return False
    return result.outcomes[-1].cause is Cause.TASK


def _may_be_done(control: Control, told: set[str]) -> bool:
    """Return whether a task is done of which no news tell, or may be: its result cannot be understood."""
    for item in control.s3.list(control.keys.results):
        number = item.key.removeprefix(control.keys.results).removesuffix(".json")
        if item.etag not in told and number.isdecimal():
            found = control.result(int(number))
            if found is None or found[0].state is TaskState.DONE:
                return True
    return False
