"""A run as the control bucket holds it: the anchor that makes it one run, and its submissions.

Nothing rests on a laptop. Whoever creates `run.json` first has made the run; everybody after reads what is there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any

from orchestrator.errors import Damaged, NewerVersion, NotFound, UsageError
from orchestrator.plan.plan import Plan
from orchestrator.runs.written.home import Home
from orchestrator.runs.written.submission import Submission
from orchestrator.wire.names import RunKeys, canonical, digest, sweep_folder, valid_run_name
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.stored import VERSION, check_version, damage_named

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

    from orchestrator.aws.s3 import S3
    from orchestrator.errors import SweepError
    from orchestrator.spec.sweep import Sweep


@dataclass(frozen=True)
class Anchor:
    """A run, as `run.json` says it: written once, never changed."""

    name: str
    plan: Plan
    code: str
    """Digest of the packed sources. A run never mixes two versions of a training."""
    owner: str
    created_at: float
    home: Home | None = None
    """The place of its launchers; None where an older version made it, which did not say."""

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
            **({"home": self.home.to_json()} if self.home else {}),
        }

    @classmethod
    def from_json(cls, body: dict[str, Any], *, sweep_later: bool = False) -> Anchor:
        """Return a stored run. NewerVersion if a newer `sweep` has written it.

        With `sweep_later`, the sweep of its plan is understood when it is first asked for.
        """
        check_version(body, f"run {body.get('name')!r}")
        home = Home.from_json(body["home"]) if "home" in body else None
        plan = Plan.from_json(body["plan"], sweep_later=sweep_later)
        return cls(body["name"], plan, body["code"], body["owner"], body["created_at"], home)


def create(control: S3, anchor: Anchor) -> bool:
    """Make this run. Return False if a run of that name is there already."""
    control.put_once(entry_key(anchor), b"")  # first, so that no run is without it
    return control.put_once(anchor.keys.anchor, canonical(anchor.to_json()).encode())


def entry_key(anchor: Anchor) -> str:
    """Return the key of the empty object that says which sweep a run is of."""
    return _sweep_folder(anchor.plan.sweep) + anchor.name


def of_sweep(control: S3, sweep: Sweep, leave_out: Callable[[SweepError], None]) -> list[Anchor]:
    """Return the runs of this very sweep, newest first.

    `leave_out` is told of each that cannot be understood.
    """
    names = [item.key.rpartition("/")[2] for item in control.list(_sweep_folder(sweep))]
    return sorted(find_all(control, names, leave_out), key=lambda anchor: anchor.created_at, reverse=True)


def find_all(control: S3, names: Iterable[str], leave_out: Callable[[SweepError], None]) -> list[Anchor]:
    """Return the runs of these names that are there; `leave_out` is told of each that cannot be understood."""
    found = []
    for name in names:
        try:
            anchor = find(control, name)
        except (Damaged, NewerVersion) as error:
            leave_out(error)
            continue
        if anchor:
            found.append(anchor)
    return found


def same_sweep(one: Sweep, other: Sweep) -> bool:
    """Return whether two sweeps are the same as files, wherever their folders are."""
    return _as_written(one) == _as_written(other)


def _as_written(sweep: Sweep) -> dict[str, Any]:
    return sweep.as_written().model_dump(mode="json")


def _sweep_folder(sweep: Sweep) -> str:
    return sweep_folder(sweep.name, digest(_as_written(sweep)))


def candidates(wanted: Anchor) -> Iterator[Anchor]:
    """Yield this run under its own name, then under `name-2`, `name-3` and so on. UsageError if it cannot be a name."""
    for number in count(1):
        name = wanted.name if number == 1 else f"{wanted.name}-{number}"
        yield replace(wanted, name=run_name(name))


class OtherPlan(UsageError):
    """The name that was asked for stands for another plan."""


class OtherSources(UsageError):
    """A run of this name was begun with sources that are not those of now."""

    def __init__(self, there: Anchor, code: str, changes: str = "") -> None:
        self.there, self.code = there, code
        said = f": {changes}" if changes else f" ({there.code}, not {code})"
        hint = "--again makes a new run with the sources as they are now"
        super().__init__(f"run {there.name!r} was begun with other sources{said}", hint=hint)


def same(there: Anchor, wanted: Anchor) -> Anchor:
    """Return the run that is there; OtherPlan or OtherSources unless it is the one that is wanted.

    A name stands for one plan and one version of the code, for ever. Without its sources (`code` is empty) nobody can
    make a run, but anybody can go on with it.
    """
    if there.plan.id != wanted.plan.id:
        raise OtherPlan(
            f"run {there.name!r} exists with another plan ({there.plan.id}, not {wanted.plan.id})",
            hint="choose another --name, or --again for a second run",
        )
    if wanted.code and there.code != wanted.code:
        raise OtherSources(there, wanted.code)
    return there


@dataclass(frozen=True)
class Notes:
    """What is done about a run before it is made, and when it is not."""

    reserve: Callable[[Anchor], Anchor]
    """Notes a run, and returns it as it is noted: as it was noted first, if it was before."""
    forget: Callable[[Anchor], None]
    """Takes a note back."""


def claim(wanted: Anchor, control: S3, notes: Notes, *, again: bool) -> Anchor:
    """Make this run, or return the one that is there; with `again`, make it under the first name that is free."""
    names = candidates(wanted)
    while True:
        candidate = next(names)
        there = find(control, candidate.name)
        if there is None:
            noted = notes.reserve(candidate)
            if create(control, noted):
                return noted
            there = read(control, candidate.name)
            if there.to_json() == noted.to_json():
                return noted  # ours: the answer was lost, or another process has made what both had noted
            notes.forget(noted)
        if not again:
            return same(there, wanted)


def find(control: S3, name: str) -> Anchor | None:
    """Return the run of this name from the control bucket, or None. Damaged if it cannot be understood."""
    key = RunKeys(name).anchor
    try:
        stored = control.get(key)
    except NotFound:
        return None
    with damage_named(control.uri(key)):
        found = Anchor.from_json(stored.json())
        if found.name != name:
            raise ValueError(f"it says that it is run {found.name!r}")
        canonical(found.to_json())  # what cannot be written down again, such as nan, nobody has written
        return found


def read(control: S3, name: str) -> Anchor:
    """Return the run of this name from the control bucket. UsageError if there is none."""
    found = find(control, name)
    if found is None:
        raise UsageError(f"no run {name!r}", where=f"s3://{control.bucket}", hint="`sweep runs` lists them")
    return found


def holds(control: S3, anchor: Anchor) -> bool:
    """Return whether the control bucket holds this very run."""
    try:
        found = find(control, anchor.name)
    except (Damaged, NewerVersion):
        return False
    return found is not None and found.to_json() == anchor.to_json()


def check_there(control: S3, run: str, keys: Container[str] | None = None) -> None:
    """Raise UsageError unless the control bucket holds this run. `keys` are what lies beside its anchor, if known.

    An empty bucket says of no run that nothing of it is left.
    """
    key = RunKeys(run).anchor
    if control.exists(key) if keys is None else key in keys:
        return
    raise UsageError(
        f"run {run!r} is not in this bucket",
        where=f"s3://{control.bucket}",
        hint="name the bucket that it was submitted to: SWEEP_BUCKET, or `bucket` in the settings; if its run.json was"
        " deleted there, `sweep reap --stop` ends what still runs of it",
    )


def names(control: S3) -> list[str]:
    """Return the name of every run that the control bucket holds."""
    return [folder.removeprefix("runs/").rstrip("/") for folder in control.folders("runs/")]


def submissions(control: S3, run: str) -> Iterator[Submission]:
    """Yield every submission of a run, in order. Damaged for one that is gone, though a newer one is there."""
    number = 1
    while (submission := read_submission(control, run, number)) is not None:
        yield submission
        number += 1
    if newest_number(control, run) > number and not control.exists(RunKeys(run).submission(number)):
        where = control.uri(RunKeys(run).submission(number))
        raise Damaged("is gone, though newer ones are there", where=where, hint="bring an earlier version of it back")


def newest_number(control: S3, run: str) -> int:
    """Return the number of the newest submission of a run, whether it can be understood or not; 1 if there is none."""
    names = (item.key.rpartition("/")[2].removesuffix(".json") for item in control.level(RunKeys(run).submissions))
    return max((int(name) for name in names if name.isdecimal() and len(name) < 10), default=1)


def add_submission(control: S3, run: str, submission: Submission) -> bool:
    """Write this submission down, once. Return False if somebody else has made another one of this number."""
    made = control.put_once(RunKeys(run).submission(submission.number), canonical(submission.to_json()).encode())
    # A write whose answer was lost is sent again, and then finds itself.
    return made or read_submission(control, run, submission.number) == submission


def read_submission(control: S3, run: str, number: int) -> Submission | None:
    """Return this submission of a run, or None if there is none."""
    key = RunKeys(run).submission(number)
    try:
        stored = control.get(key)
    except NotFound:
        return None
    with damage_named(control.uri(key)):
        found = Submission.from_json(stored.json())
        if found.number != number:
            raise ValueError(f"it says that it is submission {found.number}")
        return found


def run_name(name: str) -> str:
    """Return the name if it can be one: it becomes a part of every training's name. Else raise UsageError."""
    if not valid_run_name(name):
        raise UsageError(
            f"{name!r} cannot name a run",
            hint="at most 40 small letters, digits and single hyphens, the first and last not a hyphen",
        )
    return name
