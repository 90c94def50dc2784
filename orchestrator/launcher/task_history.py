"""All that is known of one task: the attempts recorded, the outcomes proven, and the result that is written of them."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from orchestrator.launcher.tried import Tried
from orchestrator.launcher.watching.metrics_reader import MetricsReader
from orchestrator.wire.result import Cause, Outcome, Result, TaskState

if TYPE_CHECKING:
    from orchestrator.aws.control import Control
    from orchestrator.wire.result import Attempt
    from orchestrator.wire.task import Task


class Standing(Enum):
    """The answer to whether a launcher may go on with its task."""

    WANTED = "wanted"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"
    """The task belongs to a newer submission, which takes over all that was recorded."""


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
        self._left_open: set[int] = set()
        """Numbers of attempts that nobody had seen end when we came."""
        self._published: object = None

    def load(self) -> Result | None:
        """Read all that the bucket holds. Return the task's result, None when there is none yet."""
        found = self.control.result(self.task.number)
        if found:
            self.outcomes = {one.number: one for one in found[0].outcomes}
            self.metrics_reader = MetricsReader(found[0].curves)
        self.refresh()
        self._left_open = {attempt.number for attempt in self.attempts if not self._ended(attempt)}
        return found[0] if found else None

    def refresh(self) -> None:
        """Read again which attempts are recorded: another launcher of the task may have recorded one."""
        self.attempts = self.control.attempts(self.task.number)

    def standing(self) -> Standing:
        """Ask the bucket whether we may go on."""
        if self.control.fence().owner(self.task.number) > self.submission:
            return Standing.SUPERSEDED
        return Standing.CANCELLED if self.control.cancelled(self.submission) else Standing.WANTED

    def record(self, attempt: Attempt) -> bool:
        """Record the next attempt, and return True; False when another launcher has just recorded one."""
        recorded = self.control.record(attempt)
        if recorded:
            self.attempts.append(attempt)
        else:
            self.refresh()
        return recorded

    def note(self, attempt: Attempt, now: float, cause: Cause | None = None, reason: str = "") -> None:
        """Note how an attempt stands of which the platform knows nothing: it is being started, or was refused."""
        before = self.outcomes.get(attempt.number)
        state = TaskState.STARTING if cause is None else TaskState.FAILED
        asked = before.requested_at if before and cause is not None else now
        self.outcomes[attempt.number] = Outcome(
            attempt.number,
            attempt.lane,
            attempt.training,
            state,
            cause or Cause.NONE,
            reason,
            instances=attempt.instances,
            requested_at=asked,
            ended_at=None if cause is None else now,
            site=attempt.site,
        )

    @property
    def newest(self) -> int:
        """The highest number in use, by us or by an earlier submission."""
        return max([self.task.after, *(attempt.number for attempt in self.attempts)])

    def open(self) -> Attempt | None:
        """Return the first attempt that is not known to have ended, whoever recorded it; None when all have."""
        waiting = (one for one in self.attempts if not self._ended(one) and one.number not in self._given_up)
        return next(waiting, None)

    def may_start(self, attempt: Attempt) -> bool:
        """Return whether the attempt is the newest, and none that an earlier submission has seen to its end.

        Any other was left behind by a newer one, and is never started again.
        """
        return attempt.number > self.task.after and attempt.number == self.newest

    def give_up(self, attempt: Attempt) -> None:
        """Forget an attempt that was recorded, is not found, and may not be started any more."""
        self._given_up.add(attempt.number)

    def tried(self) -> list[Tried]:
        """Return the attempts of our own submission, with their outcomes. Call it when none is open.

        What an earlier submission has left open, and we have followed, counts too if it was done: else it was stopped,
        or failed on that submission's account.
        """
        return [
            Tried(attempt, self.outcomes[attempt.number])
            for attempt in self.attempts
            if attempt.number not in self._given_up and (self._is_ours(attempt) or self._was_done(attempt))
        ]

    def tried_before(self, attempt: Attempt) -> list[Tried]:
        """Return the attempts of our own submission before this one, with their outcomes."""
        before = (one for one in self.attempts if one.number < attempt.number and self._is_ours(one))
        return [Tried(one, self.outcomes[one.number]) for one in before if one.number in self.outcomes]

    def _is_ours(self, attempt: Attempt) -> bool:
        return attempt.number > self.task.after and attempt.submission >= self.submission

    def _was_done(self, attempt: Attempt) -> bool:
        followed = attempt.number > self.task.after or attempt.number in self._left_open
        return followed and self.outcomes[attempt.number].state is TaskState.DONE

    def _ended(self, attempt: Attempt) -> bool:
        outcome = self.outcomes.get(attempt.number)
        return outcome is not None and outcome.state.terminal

    @property
    def spent(self) -> float:
        """Dollars that all attempts and moves have cost, those of earlier submissions included."""
        return sum(outcome.usd + outcome.moved_usd for outcome in self.outcomes.values())

    def publish(self, state: TaskState, reason: str = "") -> None:
        """Write the task's result, if it says anything new."""
        outcomes = tuple(self.outcomes[number] for number in sorted(self.outcomes))
        curves = self.metrics_reader.curves
        said = [
            (
                *(one.number, one.state, one.ended_for, one.note, one.waits_for),
                *(one.silent_since, one.lost_at, one.moved_usd),
            )
            for one in outcomes
        ]
        news = (state, reason, said, curves)
        if news != self._published:
            result = Result(self.task.number, self.task.key, state, reason, outcomes, self.submission, curves)
            self.control.write_result(result)
            self._published = news
