"""A run as the control bucket holds it: the anchor that makes it one run, and its submissions.

Nothing rests on a laptop. Whoever creates `run.json` first has made the run; everybody after reads what is there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any

from orchestrator.errors import NotFound, UsageError
from orchestrator.plan.plan import Plan
from orchestrator.runs.written.submission import Submission
from orchestrator.wire.names import RunKeys, canonical, valid_run_name
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.stored import VERSION, check_version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from orchestrator.aws.s3 import S3


@dataclass(frozen=True)
class Anchor:
    """A run, as `run.json` says it: written once, never changed."""

    name: str
    plan: Plan
    code: str
    """Digest of the packed sources. A run never mixes two versions of a training."""
    owner: str
    created_at: float

    @property
    def keys(self) -> RunKeys:
        return RunKeys(self.name)

    @property
    def tasks(self) -> Ranges:
        """All tasks of the run."""
        return Ranges(((0, self.plan.tasks),))

    def checked(self, tasks: Ranges) -> Ranges:
        """Return these tasks, each once and in order. UsageError if the run lacks one of them."""
        total = self.plan.tasks
        missing = Ranges(tuple((max(first, total), stop) for first, stop in tasks.spans if stop > total))
        if missing:
            raise UsageError(f"run {self.name!r} has no task {missing}", hint=f"its tasks are {self.tasks}")
        return Ranges.of(tasks)

    def is_same(self, other: Anchor) -> bool:
        """Return whether both mean the same plan and code."""
        return (self.plan.id, self.code) == (other.plan.id, other.code)

    def to_json(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "name": self.name,
            "plan": self.plan.to_json(),
            "code": self.code,
            "owner": self.owner,
            "created_at": self.created_at,
        }

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Anchor:
        """Return a stored run. NewerVersion if a newer `sweep` has written it."""
        check_version(body, f"run {body.get('name')!r}")
        return cls(body["name"], Plan.from_json(body["plan"]), body["code"], body["owner"], body["created_at"])


def create(control: S3, anchor: Anchor) -> bool:
    """Make this run. Return False if a run of that name is there already."""
    return control.put_once(anchor.keys.anchor, canonical(anchor.to_json()).encode())


def candidates(wanted: Anchor) -> Iterator[Anchor]:
    """Yield this run under its own name, then under `name-2`, `name-3` and so on. UsageError if it cannot be a name."""
    for number in count(1):
        name = wanted.name if number == 1 else f"{wanted.name}-{number}"
        yield replace(wanted, name=run_name(name))


def same(there: Anchor, wanted: Anchor) -> Anchor:
    """Return the run that is there; UsageError unless it is the one that is wanted.

    A name stands for one plan and one version of the code, for ever. Without its sources (`code` is empty) nobody can
    make a run, but anybody can go on with it.
    """
    if there.plan.id != wanted.plan.id:
        raise UsageError(
            f"run {there.name!r} exists with another plan ({there.plan.id}, not {wanted.plan.id})",
            hint="choose another --name, or --again for a second run",
        )
    if wanted.code and there.code != wanted.code:
        raise UsageError(
            f"run {there.name!r} was begun with other sources ({there.code}, not {wanted.code})",
            hint="--again makes a new run with the sources as they are now",
        )
    return there


def claim(wanted: Anchor, control: S3, reserve: Callable[[Anchor], Anchor], *, again: bool) -> Anchor:
    """Make this run, or return the one that is there; with `again`, make it under the first name that is free.

    `reserve` notes a run before it is made, and returns it as it is noted: as it was noted first, if it was before.
    """
    names = candidates(wanted)
    while True:
        candidate = next(names)
        there = find(control, candidate.name)
        if there is None:
            noted = reserve(candidate)
            if noted.is_same(candidate) and create(control, noted):
                return noted
            there = find(control, candidate.name) or noted
        if not again:
            return same(there, wanted)


def find(control: S3, name: str) -> Anchor | None:
    """Return the run of this name from the control bucket, or None."""
    try:
        return Anchor.from_json(control.get(RunKeys(name).anchor).json())
    except NotFound:
        return None


def read(control: S3, name: str) -> Anchor:
    """Return the run of this name from the control bucket. UsageError if there is none."""
    found = find(control, name)
    if found is None:
        raise UsageError(f"no run {name!r}", where=f"s3://{control.bucket}", hint="`sweep runs` lists them")
    return found


def names(control: S3) -> list[str]:
    """Return the name of every run that the control bucket holds."""
    return [folder.removeprefix("runs/").rstrip("/") for folder in control.folders("runs/")]


def submissions(control: S3, run: str) -> Iterator[Submission]:
    """Yield every submission of a run, in order."""
    number = 1
    while (submission := _submission(control, run, number)) is not None:
        yield submission
        number += 1


def add_submission(control: S3, run: str, submission: Submission) -> bool:
    """Write this submission down, once. Return False if somebody else has made another one of this number."""
    made = control.put_once(RunKeys(run).submission(submission.number), canonical(submission.to_json()).encode())
    # A write whose answer was lost is sent again, and then finds itself.
    return made or _submission(control, run, submission.number) == submission


def _submission(control: S3, run: str, number: int) -> Submission | None:
    try:
        return Submission.from_json(control.get(RunKeys(run).submission(number)).json())
    except NotFound:
        return None


def run_name(name: str) -> str:
    """Return the name if it can be one: it becomes a part of every training's name. Else raise UsageError."""
    if not valid_run_name(name):
        raise UsageError(
            f"{name!r} cannot name a run",
            hint="at most 40 small letters, digits and single hyphens, the first and last not a hyphen",
        )
    return name
