"""Which tasks are sent to Batch together, and in which order: a submission, its parts, and the arrays they become."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from orchestrator.plan.slots import LotKey, crowded
from orchestrator.runs.written.planned import Planned
from orchestrator.wire.names import RunKeys, array_name
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.result import TaskState
from orchestrator.wire.stored import VERSION, check_version, checked
from orchestrator.wire.task import Lane

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.plan.plan import Plan, Share
    from orchestrator.wire.beside.news import News
    from orchestrator.wire.result import Result

WITH_PLAN = 2
"""The version of a submission that has planned its tasks anew: an older `sweep` would send them where they were."""
ARRAY_LIMIT = 10_000
"""Children of one AWS Batch array job, at most."""


@dataclass(frozen=True)
class Array:
    """One AWS Batch array job of a submission: child i runs the i-th of these tasks."""

    run: str
    submission: int
    number: int
    tasks: Ranges
    lot: LotKey | None = None
    """The lot whose instances its children wait for; None if they need not wait."""
    instances: int = 1
    """The instances that each child waits for."""

    @property
    def name(self) -> str:
        return array_name(self.run, self.submission, self.number)

    @property
    def manifest(self) -> str:
        return RunKeys(self.run).manifest(self.submission, self.number)


@dataclass(frozen=True)
class Part:
    """Tasks that share arrays, in the order that they should start in."""

    tasks: Ranges
    lot: LotKey | None = None
    instances: int = 1

    def to_json(self) -> dict[str, Any]:
        body: dict[str, Any] = {"tasks": str(self.tasks)}
        if self.lot:
            body |= {"lane": str(self.lot.lane), "site": self.lot.site, "instances": self.instances}
        return body

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Part:
        tasks = Ranges.parse_in_order(body["tasks"])
        if "lane" not in body:
            return cls(tasks)
        return checked(cls(tasks, LotKey(Lane.parse(body["lane"]), body["site"]), body["instances"]))


@dataclass(frozen=True)
class Submission:
    """Some tasks of a run, sent to Batch together: all of them the first time, those to be retried later.

    Its parts are written down, not worked out again: array j means the same tasks to everybody, for ever.
    """

    number: int
    parts: tuple[Part, ...]
    after: tuple[tuple[int, Ranges], ...] = ()
    """Attempts that tasks had behind them: (attempts, tasks). Tasks that are not named had none."""
    made_at: float = 0.0
    """Seconds since the epoch; 0 of the first submission, which is as old as its run, and where it is not known."""
    planned: Planned | None = None
    """The places of its tasks, if they were planned anew; None where the run's plan says them."""
    since: float = 0.0
    """The moment from which its deadline counts, in seconds since the epoch; 0 if it counts from when it was made."""

    @cached_property
    def tasks(self) -> Ranges:
        return Ranges.union(part.tasks for part in self.parts)

    def attempts_before(self, task: int) -> int:
        """Return the attempts that the task had behind it when the submission was made."""
        return next((attempts for attempts, tasks in self.after if task in tasks), 0)

    def arrays(self, run: str) -> list[Array]:
        chunks = [(tasks, part) for part in self.parts for tasks in part.tasks.chunks(ARRAY_LIMIT)]
        return [
            Array(run, self.number, number, tasks, part.lot, part.instances)
            for number, (tasks, part) in enumerate(chunks, start=1)
        ]

    def to_json(self) -> dict[str, Any]:
        after = {str(attempts): str(tasks) for attempts, tasks in self.after}
        parts = [part.to_json() for part in self.parts]
        body = {"version": VERSION, "number": self.number, "parts": parts, "after": after}
        body |= {"made_at": self.made_at} if self.made_at else {}
        if self.planned is None:
            return body
        return body | {"version": WITH_PLAN, "planned": self.planned.to_json(), "since": self.since}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Submission:
        """Return a stored submission. NewerVersion if a newer `sweep` has written it."""
        check_version(body, "submission", newest=WITH_PLAN)
        after = tuple((int(attempts), Ranges.parse(tasks)) for attempts, tasks in body["after"].items())
        parts = tuple(Part.from_json(part) for part in body["parts"])
        planned = Planned.from_json(body["planned"]) if "planned" in body else None
        return checked(cls(body["number"], parts, after, body.get("made_at", 0.0), planned, body.get("since", 0.0)))


def latest(made: list[Submission], task: int) -> Submission:
    """Return the submission that a task belongs to now."""
    return next(submission for submission in reversed(made) if task in submission.tasks)


def state_now(made: list[Submission], told: Result | News) -> TaskState:
    """Return how a task stands by what its result tells, though that may be of an older submission than its newest.

    What an older one has left no longer counts; unless the task was done by an attempt that the newest one did not know
    of when it was made. It would take that over, and find it done.
    """
    owner = latest(made, told.task)
    if told.submission >= owner.number:
        return told.state
    is_done = told.state is TaskState.DONE and told.attempt > owner.attempts_before(told.task)
    return TaskState.DONE if is_done else TaskState.PENDING


def everything(plan: Plan) -> Submission:
    """Return the first submission of a run: all tasks of its plan."""
    return Submission(1, parts(plan, Ranges(((0, plan.tasks),))))


def parts(plan: Plan, tasks: Ranges) -> tuple[Part, ...]:
    """Return these tasks, longest first: together if there are slots for all tasks at once, else lane by lane.

    Tasks of one lane that differ in their instances are apart as well: all children of an array wait for equally many.
    """
    apart = crowded(plan)
    spans: dict[tuple[LotKey | None, int], list[tuple[float, int, int]]] = defaultdict(list)
    for share, first, stop in _pieces(plan, tasks):
        key = (LotKey.of(share.places[0]), share.instances) if apart else (None, 1)
        spans[key].append((-(share.longest or share.hours), first, stop))
    return tuple(
        Part(Ranges.in_order((first, stop) for _, first, stop in sorted(spans[lot, instances])), lot, instances)
        for lot, instances in sorted(spans, key=repr)
    )


def _pieces(plan: Plan, tasks: Ranges) -> Iterator[tuple[Share, int, int]]:
    """Yield these tasks as (share, first, stop), cut where a share ends."""
    for first, stop in tasks.spans:
        while first < stop:
            share = plan.share(first)
            end = min(stop, share.first + share.count)
            yield share, first, end
            first = end
