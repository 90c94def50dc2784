"""What has changed of a run's tasks, told by the names of empty objects: a listing says it all, and nothing is read.

    runs/<run>/news/<moment>~1~<task>~<submission>~<attempt>~<proven>~<state>~<lane>~<instances>~...

The moment is that of S3's own clock, in milliseconds, so that the newest lie last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from orchestrator.wire.result import TaskState
from orchestrator.wire.stored import checked
from orchestrator.wire.task import Lane

if TYPE_CHECKING:
    from orchestrator.wire.result import Outcome, Result

FORMAT = "1"
"""The version of the names. Whoever does not know another one reads the results themselves."""
SEPARATOR = "~"
"""Stands between the parts of a name, and in none of them."""


@dataclass(frozen=True)
class News:
    """The state of a task, as far as a name can say it."""

    moment: int
    """Milliseconds since the epoch, at which S3 took the result."""
    task: int
    submission: int
    attempt: int
    proven: int
    """The newest attempt that is known to have ended."""
    state: TaskState
    lane: Lane | None
    """The lane of the newest attempt; None if there was none."""
    instances: int
    seconds: float
    """Seconds that all attempts ran."""
    billable_s: float
    usd: float
    """Dollars that all attempts cost."""
    started_at: float | None
    ended_at: float | None
    """When the newest attempt ended; of one that has not ended, when it lost its machines, if it waits for others."""
    etag: str
    """S3's name for the content of the result."""

    @property
    def order(self) -> tuple[int, int, int]:
        """The place of the result among the results of its task, as `Result.order` has it."""
        return (self.submission, self.attempt, self.state.rank)

    @property
    def name(self) -> str:
        """The name of the object that tells it, below the prefix of news."""
        lane = quote(str(self.lane), safe="").replace(SEPARATOR, "%7E") if self.lane else ""
        numbers = (self.seconds, self.billable_s, self.usd, self.started_at, self.ended_at)
        facts = (self.task, self.submission, self.attempt, self.proven, self.state.value, lane, self.instances)
        told = ["" if number is None else repr(float(number)) for number in numbers]
        return SEPARATOR.join([moment_name(self.moment), FORMAT, *map(str, facts), *told, self.etag.strip('"')])

    @classmethod
    def read(cls, name: str) -> News | None:
        """Return what a name tells; None if it is of a format not known here, or no name that anybody has written."""
        moment, _, rest = name.partition(SEPARATOR)
        form, _, told = rest.partition(SEPARATOR)
        if form != FORMAT:
            return None
        try:
            return cls._of_parts(int(moment), *told.split(SEPARATOR))
        except (ValueError, TypeError):
            return None

    @classmethod
    def _of_parts(  # one for each part of a name
        cls, moment: int, task: str, submission: str, attempt: str, proven: str, state: str, lane: str, instances: str,
        seconds: str, billable_s: str, usd: str, started_at: str, ended_at: str, etag: str,
    ) -> News:  # fmt: skip
        told = cls(
            moment=moment,
            task=int(task),
            submission=int(submission),
            attempt=int(attempt),
            proven=int(proven),
            state=TaskState(state),
            lane=Lane.parse(unquote(lane)) if lane else None,
            instances=int(instances),
            seconds=float(seconds),
            billable_s=float(billable_s),
            usd=float(usd),
            started_at=float(started_at) if started_at else None,
            ended_at=float(ended_at) if ended_at else None,
            etag=f'"{etag}"',
        )
        return checked(told)

    @classmethod
    def of(cls, result: Result, etag: str, moment: int) -> News:
        """Return what is told of a result that was just written."""
        last = result.outcomes[-1] if result.outcomes else None
        return cls(
            moment=moment,
            task=result.task,
            submission=result.submission,
            attempt=result.attempt,
            proven=result.proven,
            state=result.state,
            lane=last.lane if last else None,
            instances=last.instances if last else 0,
            seconds=sum(outcome.seconds for outcome in result.outcomes),
            billable_s=sum(outcome.billable_s for outcome in result.outcomes),
            usd=result.usd,
            started_at=last.started_at if last else None,
            ended_at=_without_machines_since(last) if last else None,
            etag=etag,
        )


def _without_machines_since(last: Outcome) -> float | None:
    return last.ended_at if last.state.terminal else last.lost_at


def moment_name(moment: int) -> str:
    """Return how the names of all news of a moment begin: names are listed in the order of their moments."""
    return f"{moment:013d}"
