"""Which tasks are sent to Batch together, and in which order: a submission, its parts, and the arrays they become."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from orchestrator.plan.slots import Quota, crowded
from orchestrator.wire.names import RunKeys, array_name
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.task import Lane

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.plan.plan import Plan, Share

ARRAY_LIMIT = 10_000
"""Children of one AWS Batch array job, at most."""


@dataclass(frozen=True)
class Array:
    """One AWS Batch array job of a submission: child i runs the i-th of these tasks."""

    run: str
    submission: int
    number: int
    tasks: Ranges
    quota: Quota | None = None
    """The quota that its children wait for; None if they need not wait."""

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
    quota: Quota | None = None

    def to_json(self) -> dict[str, Any]:
        tasks = {"tasks": str(self.tasks)}
        return tasks | {"lane": str(self.quota.lane), "arn": self.quota.arn} if self.quota else tasks

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Part:
        quota = Quota(Lane.parse(body["lane"]), body["arn"]) if "lane" in body else None
        return cls(Ranges.parse_in_order(body["tasks"]), quota)


@dataclass(frozen=True)
class Submission:
    """Some tasks of a run, sent to Batch together: all of them the first time, those to be retried later.

    Its parts are written down, not worked out again: array j means the same tasks to everybody, for ever.
    """

    number: int
    parts: tuple[Part, ...]
    after: tuple[tuple[int, Ranges], ...] = ()
    """Attempts that tasks had behind them: (attempts, tasks). Tasks that are not named had none."""

    @cached_property
    def tasks(self) -> Ranges:
        return Ranges.union(part.tasks for part in self.parts)

    def attempts_before(self, task: int) -> int:
        return next((attempts for attempts, tasks in self.after if task in tasks), 0)

    def arrays(self, run: str) -> list[Array]:
        chunks = [(tasks, part.quota) for part in self.parts for tasks in part.tasks.chunks(ARRAY_LIMIT)]
        return [Array(run, self.number, number, *chunk) for number, chunk in enumerate(chunks, start=1)]

    def to_json(self) -> dict[str, Any]:
        after = {str(attempts): str(tasks) for attempts, tasks in self.after}
        return {"number": self.number, "parts": [part.to_json() for part in self.parts], "after": after}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Submission:
        after = tuple((int(attempts), Ranges.parse(tasks)) for attempts, tasks in body["after"].items())
        return cls(body["number"], tuple(Part.from_json(part) for part in body["parts"]), after)


def everything(plan: Plan) -> Submission:
    """Return the first submission of a run: all tasks of its plan."""
    return Submission(1, parts(plan, Ranges(((0, plan.tasks),))))


def parts(plan: Plan, tasks: Ranges) -> tuple[Part, ...]:
    """Return these tasks, longest first: together if there are slots for all tasks at once, else lane by lane."""
    apart = crowded(plan)
    spans: dict[Quota | None, list[tuple[float, int, int]]] = defaultdict(list)
    for share, first, stop in _pieces(plan, tasks):
        spans[Quota.of(share.places[0]) if apart else None].append((-share.hours, first, stop))
    return tuple(
        Part(Ranges.in_order((first, stop) for _, first, stop in sorted(spans[quota])), quota)
        for quota in sorted(spans, key=repr)
    )


def _pieces(plan: Plan, tasks: Ranges) -> Iterator[tuple[Share, int, int]]:
    """Yield these tasks as (share, first, stop), cut where a share ends."""
    for first, stop in tasks.spans:
        while first < stop:
            share = plan.share(first)
            end = min(stop, share.first + share.count)
            yield share, first, end
            first = end
