"""All that is known of one task: attempts as recorded, outcomes as proven, and the result that we leave of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.launcher.decide import Tried
from orchestrator.launcher.learning import Learning
from orchestrator.wire.result import Result

if TYPE_CHECKING:
    from orchestrator.aws.control import Control
    from orchestrator.wire.result import Attempt, Outcome, TaskState
    from orchestrator.wire.task import Task


class History:
    """A copy of what lies in the control bucket; `load` and `refresh` bring it up to date."""

    def __init__(self, task: Task, submission: int, control: Control) -> None:
        self.task = task
        self.submission = submission
        self.control = control
        self.attempts: list[Attempt] = []
        self.outcomes: dict[int, Outcome] = {}
        self.learning = Learning({})
        self._left: set[int] = set()
        self._published: object = None

    def load(self) -> Result | None:
        """The result that lies there now, if any."""
        found = self.control.result(self.task.number)
        if found:
            self.outcomes = {one.number: one for one in found[0].outcomes}
            self.learning = Learning(found[0].curves)
        self.refresh()
        return found[0] if found else None

    def refresh(self) -> None:
        self.attempts = self.control.attempts(self.task.number)

    @property
    def newest(self) -> int:
        """The highest number in use."""
        return max([self.task.after, *(attempt.number for attempt in self.attempts)])

    def open(self) -> Attempt | None:
        """The first attempt that is not known to have ended, whoever recorded it."""
        for attempt in self.attempts:
            outcome = self.outcomes.get(attempt.number)
            if attempt.number not in self._left and not (outcome and outcome.state.terminal):
                return attempt
        return None

    def may_start(self, attempt: Attempt) -> bool:
        """One of our own submission, and the newest: what a newer one has left behind is never started again."""
        return attempt.number > self.task.after and attempt.number == self.newest

    def leave(self, attempt: Attempt) -> None:
        """It was recorded, is not there, and will not be started any more."""
        self._left.add(attempt.number)

    def tried(self) -> list[Tried]:
        """Attempts of our own submission, with how they ended."""
        return [
            Tried(attempt, self.outcomes[attempt.number])
            for attempt in self.attempts
            if attempt.number > self.task.after and attempt.number not in self._left
        ]

    @property
    def spent(self) -> float:
        """Dollars over the task's whole life."""
        return sum(outcome.usd for outcome in self.outcomes.values())

    def publish(self, state: TaskState, reason: str = "") -> None:
        """Leave the task's result, if it says anything new."""
        outcomes = tuple(self.outcomes[number] for number in sorted(self.outcomes))
        curves = self.learning.curves
        news = (state, reason, [(outcome.number, outcome.state) for outcome in outcomes], curves)
        if news != self._published:
            result = Result(self.task.number, self.task.key, state, reason, outcomes, self.submission, curves)
            self.control.write_result(result)
            self._published = news
