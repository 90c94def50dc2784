"""A run as the control bucket holds it: the anchor that makes it one run, and its submissions.

Nothing rests on a laptop. Whoever creates `run.json` first has made the run; everybody after reads what is there.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from orchestrator.errors import NotFound, UsageError
from orchestrator.plan.plan import Plan
from orchestrator.runs.submission import Submission
from orchestrator.wire.names import RunKeys, canonical, valid_run_name
from orchestrator.wire.ranges import Ranges

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from orchestrator.aws.s3 import S3


@dataclass(frozen=True)
class Anchor:
    """What a run is: written once, never changed."""

    name: str
    plan: Plan
    code: str
    """Digest of the packed sources: a run never mixes two versions of a training."""
    owner: str
    created_at: float

    @property
    def keys(self) -> RunKeys:
        return RunKeys(self.name)

    @property
    def tasks(self) -> Ranges:
        """All of them."""
        return Ranges(((0, self.plan.tasks),))

    def checked(self, tasks: Ranges) -> Ranges:
        """These tasks, each once and in order; UsageError when the run has not all of them."""
        total = self.plan.tasks
        missing = Ranges(tuple((max(first, total), stop) for first, stop in tasks.spans if stop > total))
        if missing:
            raise UsageError(f"run {self.name!r} has no task {missing}", hint=f"its tasks are {self.tasks}")
        return Ranges.of(tasks)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "plan": self.plan.to_json(),
            "code": self.code,
            "owner": self.owner,
            "created_at": self.created_at,
        }

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Anchor:
        return cls(body["name"], Plan.from_json(body["plan"]), body["code"], body["owner"], body["created_at"])


def claim(control: S3, wanted: Anchor, reserve: Callable[[Anchor], Anchor], *, again: bool) -> Anchor:
    """Make this run, or find that it is already there; with `again`, take the first free name after it.

    `reserve` sets a new run's slots aside, or refuses: before the run is made, so that what is refused leaves nothing
    behind. It gives back what it was given, or the run of that name that it had noted before.
    """
    name, number = run_name(wanted.name), 1
    while True:
        there = find(control, name)
        if there is None:
            noted = reserve(replace(wanted, name=name))
            same = (noted.plan.id, noted.code) == (wanted.plan.id, wanted.code)
            if same and control.put_once(noted.keys.anchor, canonical(noted.to_json()).encode()):
                return noted
            there = find(control, name) or noted
        if not again:
            return _same(there, wanted)
        number += 1
        name = run_name(f"{wanted.name}-{number}")


def resume(control: S3, wanted: Anchor) -> Anchor | None:
    """This run if it is there already: without its sources nobody can make it, but anybody can go on with it."""
    there = find(control, wanted.name)
    return _same(there, wanted) if there else None


def find(control: S3, name: str) -> Anchor | None:
    """The run of this name, from the control bucket."""
    try:
        return Anchor.from_json(json.loads(control.get(RunKeys(name).anchor).body))
    except NotFound:
        return None


def read(control: S3, name: str) -> Anchor:
    """The run of this name; UsageError when there is none."""
    found = find(control, name)
    if found is None:
        raise UsageError(f"no run {name!r}", where=f"s3://{control.bucket}", hint="`sweep runs` lists them")
    return found


def names(control: S3) -> list[str]:
    """Every run that the control bucket holds."""
    return [folder.removeprefix("runs/").rstrip("/") for folder in control.folders("runs/")]


def submissions(control: S3, run: str) -> Iterator[Submission]:
    """Every submission of a run, in order."""
    number = 1
    while (submission := _submission(control, run, number)) is not None:
        yield submission
        number += 1


def add_submission(control: S3, run: str, submission: Submission) -> bool:
    """False: somebody else has made another submission of this number."""
    made = control.put_once(RunKeys(run).submission(submission.number), canonical(submission.to_json()).encode())
    # A write whose answer was lost is sent again, and then finds itself.
    return made or _submission(control, run, submission.number) == submission


def _submission(control: S3, run: str, number: int) -> Submission | None:
    try:
        return Submission.from_json(json.loads(control.get(RunKeys(run).submission(number)).body))
    except NotFound:
        return None


def run_name(name: str) -> str:
    """The name, if it can be one: it becomes a part of every training's name."""
    if not valid_run_name(name):
        raise UsageError(
            f"{name!r} cannot name a run",
            hint="at most 40 small letters, digits and single hyphens, the first and last not a hyphen",
        )
    return name


def _same(there: Anchor, wanted: Anchor) -> Anchor:
    """A name stands for one plan and one version of the code, for ever."""
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
