"""All that is known of one task: the attempts recorded, the outcomes proven, and the result that is written of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.launcher.decide import Tried
from orchestrator.launcher.metrics_reader import MetricsReader
from orchestrator.wire.result import Result

if TYPE_CHECKING:
    from orchestrator.aws.control import Control
    from orchestrator.wire.result import Attempt, Outcome, TaskState
    from orchestrator.wire.task import Task


class TaskHistory:
    """A copy of what lies in the control bucket for one task; `load` and `refresh` bring it up to date."""

    def __init__(self, task: Task, submission: int, control: Control) -> None:
        self.task = task
        self.submission = submission
        self.control = control
        self.attempts: list[Attempt] = []
        """All attempts recorded, of earlier submissions too, in the order of their numbers."""
        self.outcomes: dict[int, Outcome] = {}
        """The last known outcome of each attempt, by its number."""
        self.metrics_reader = MetricsReader({})
        self._given_up: set[int] = set()
        self._published: object = None

    def load(self) -> Result | None:
        """Read all that the bucket holds. Return the task's result, None when there is none yet."""
        found = self.control.result(self.task.number)
        if found:
            self.outcomes = {one.number: one for one in found[0].outcomes}
            self.metrics_reader = MetricsReader(found[0].curves)
        self.refresh()
        return found[0] if found else None

    def refresh(self) -> None:
        """Read again which attempts are recorded: another launcher of the task may have recorded one."""
        self.attempts = self.control.attempts(self.task.number)

    @property
    def newest(self) -> int:
        """The highest number in use, by us or by an earlier submission."""
        return max([self.task.after, *(attempt.number for attempt in self.attempts)])

    def open(self) -> Attempt | None:
        """Return the first attempt that is not known to have ended, whoever recorded it; None when all have."""
        for attempt in self.attempts:
            outcome = self.outcomes.get(attempt.number)
            ended = outcome is not None and outcome.state.terminal
            if not ended and attempt.number not in self._given_up:
                return attempt
        return None

    def may_start(self, attempt: Attempt) -> bool:
        """Return whether the attempt is of our own submission, and the newest.

        Any other was left behind by a newer one, and is never started again.
        """
        return attempt.number > self.task.after and attempt.number == self.newest

    def give_up(self, attempt: Attempt) -> None:
        """Forget an attempt that was recorded, is not found, and may not be started any more."""
        self._given_up.add(attempt.number)

    def tried(self) -> list[Tried]:
        """Return the attempts of our own submission, with their outcomes. Call it when none is open."""
        return [
            Tried(attempt, self.outcomes[attempt.number])
            for attempt in self.attempts
            if attempt.number > self.task.after and attempt.number not in self._given_up
        ]

    @property
    def spent(self) -> float:
        """Dollars that all attempts have cost, those of earlier submissions included."""
        return sum(outcome.usd for outcome in self.outcomes.values())

    def publish(self, state: TaskState, reason: str = "") -> None:
        """Write the task's result, if it says anything new."""
        outcomes = tuple(self.outcomes[number] for number in sorted(self.outcomes))
        curves = self.metrics_reader.curves
        news = (state, reason, [(outcome.number, outcome.state) for outcome in outcomes], curves)
        if news != self._published:
            result = Result(self.task.number, self.task.key, state, reason, outcomes, self.submission, curves)
            self.control.write_result(result)
            self._published = news
