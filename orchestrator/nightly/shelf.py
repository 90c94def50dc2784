"""Schedules and their nights, as the control bucket holds them.

schedules/<name>/schedule.json       what a schedule is now; changed by compare-and-set
schedules/<name>/nights/<id>.json    a night, put once: whoever does so may conduct it
schedules/<name>/replaced/<id>       the night that has taken the place of this one
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from orchestrator.aws.errors import aws_code
from orchestrator.errors import AlreadyExists, Damaged, NewerVersion, NotFound, UsageError, did_you_mean
from orchestrator.wire.names import canonical, valid_run_name
from orchestrator.wire.stored import VERSION, check_version, damage_named, restore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from orchestrator.aws.s3 import S3
    from orchestrator.errors import SweepError

LONGEST_NAME = 24
"""Characters of a schedule's name: its runs are called `<name>-<date>`, and some have more behind it."""


@dataclass(frozen=True)
class Entry:
    """A schedule as it is now."""

    name: str
    goal: str
    """The digest of what a night is to reach."""
    since: float
    """Nights that were due until then are none of its: when it was made, or resumed, in seconds since the epoch."""
    created_at: float
    owner: str
    paused: bool = False
    revision: int = 1
    """One more with each change."""
    definition: str = ""
    """The conductor's job definition; empty of a schedule that only somebody's own timer starts."""


@dataclass(frozen=True)
class Night:
    """One time that a schedule is carried out. Its id is its local date, or that date and a number behind `-r`."""

    id: str
    schedule: str
    goal: str
    at: float
    """When it began, in seconds since the epoch."""
    by: str
    """Who began it."""
    force: bool = False
    """True for one that trains everything, whatever was trained."""

    @property
    def instance(self) -> str:
        """The name under which its notes lie."""
        return f"{self.schedule}-{self.id}"

    def run_name(self, piece: int) -> str:
        """Return the name of its run, the first piece without a number."""
        name = f"{self.schedule}-{self.id[:10].replace('-', '')}{self.id[10:]}"
        return name if piece == 0 else f"{name}-p{piece + 1}"


class Shelf:
    """The schedules of one control bucket."""

    def __init__(self, s3: S3) -> None:
        self.s3 = s3

    def names(self) -> list[str]:
        """Return the names of all schedules. Folders whose names no schedule can have are somebody else's."""
        found = (folder.removeprefix("schedules/").rstrip("/") for folder in self.s3.folders("schedules/"))
        return [name for name in found if _can_name(name) and self.s3.exists(_key(name))]

    def entry(self, name: str) -> Entry:
        """Return the schedule of this name. UsageError if there is none, Damaged if it cannot be understood."""
        try:
            found = self._find(_key(check_name(name)))
            if found is None:
                raise self._unknown(name)
            return self._entry(name, found[0])
        except Damaged as error:
            hint = f"bring an earlier version of it back, or take it away: `sweep schedule delete {name}`"
            raise Damaged(error.message, where=error.where, hint=hint) from error

    def check_there(self, name: str) -> None:
        """Raise UsageError if there is no schedule of this name, whether it can be understood or not."""
        if not self.s3.exists(_key(check_name(name))):
            raise self._unknown(name)

    def create(self, entry: Entry) -> bool:
        """Write a new schedule down. Return False if there is one of that name."""
        return self.s3.put_once(_key(entry.name), _written(entry))

    def change(self, name: str, **changes: Any) -> Entry:
        """Change a schedule, and return it as it is now. UsageError if there is none, or somebody else changed it."""
        there = self.entry(name)
        found = self._find(_key(name))
        if found is None or self._entry(name, found[0]) != there:
            raise _changed(name)
        wanted = replace(there, **changes, revision=there.revision + 1)
        try:
            self.s3.put_if(_key(name), _written(wanted), found[1])
        except (AlreadyExists, NotFound) as error:
            if self.entry(name) != wanted:
                raise _changed(name) from error
        return wanted

    def delete(self, name: str) -> None:
        """Take a schedule away. Its nights, and what they did, stay."""
        self.s3.delete(_key(name))

    def begin(self, night: Night) -> bool:
        """Write a night down. Return False if it was there: then it is somebody else's, or is over."""
        if self.s3.put_once(_night_key(night.schedule, night.id), _written(night)):
            return True
        try:
            return self.night(night.schedule, night.id) == night  # ours: the first answer was lost
        except (Damaged, NewerVersion):
            return False

    def night(self, schedule: str, name: str) -> Night | None:
        """Return this night; None if it has not begun."""
        key = _night_key(schedule, name)
        found = self._find(key)
        if found is None:
            return None
        with damage_named(self.s3.uri(key)):
            return restore(Night, found[0])

    def nights(self, schedule: str) -> list[str]:
        """Return the ids of all nights that have begun, in their order."""
        folder = f"schedules/{schedule}/nights/"
        found = (item.key.removeprefix(folder).removesuffix(".json") for item in self.s3.list(folder))
        return sorted(found, key=_order)

    def newest(self, schedule: str, count: int, leave_out: Callable[[str, SweepError], None]) -> Iterator[Night]:
        """Yield the newest nights, the newest first. `leave_out` is told of each that cannot be understood."""
        for name in self.nights(schedule)[::-1][:count]:
            try:
                night = self.night(schedule, name)
            except (Damaged, NewerVersion) as error:
                leave_out(name, error)
                continue
            if night:
                yield night

    def replace(self, schedule: str, night: str, by: str) -> None:
        """Write down that another night takes the place of this one."""
        self.s3.put_once(f"schedules/{schedule}/replaced/{night}", by.encode())

    def replaced_by(self, schedule: str, night: str) -> str:
        """Return the night that has taken the place of this one; empty if none has."""
        try:
            return self.s3.get(f"schedules/{schedule}/replaced/{night}").body.decode(errors="replace")
        except NotFound:
            return ""

    def _unknown(self, name: str) -> UsageError:
        hint = did_you_mean(name, self.names()) or "`sweep schedule create` makes one"
        return UsageError(f"no schedule {name!r}", where=f"s3://{self.s3.bucket}", hint=hint)

    def _find(self, key: str) -> tuple[dict[str, Any], str] | None:
        try:
            stored = self.s3.get(key)
        except NotFound as error:
            if aws_code(error) == "NoSuchBucket":
                raise
            return None
        with damage_named(self.s3.uri(key)):
            body = stored.json()
            check_version(body, "schedule")
            return body, stored.etag

    def _entry(self, name: str, body: dict[str, Any]) -> Entry:
        with damage_named(self.s3.uri(_key(name))):
            found = restore(Entry, body)
        if found.name != name:
            raise Damaged(f"says that it is the schedule {found.name!r}", where=self.s3.uri(_key(name)))
        return found


def check_name(name: str) -> str:
    """Return the name if a schedule can have it. Raise UsageError if not."""
    if not _can_name(name):
        raise UsageError(
            f"{name!r} cannot name a schedule",
            hint=f"at most {LONGEST_NAME} small letters, digits and single hyphens; --name gives it another name",
        )
    return name


def _can_name(name: str) -> bool:
    return valid_run_name(name) and len(name) <= LONGEST_NAME


def _order(night: str) -> tuple[str, int]:
    day, number = night[:10], night[12:]
    return day, int(number) if number.isdigit() else 0


def _changed(name: str) -> UsageError:
    return UsageError(f"the schedule {name!r} was changed just now", hint="look at it, and do it again")


def _key(name: str) -> str:
    return f"schedules/{name}/schedule.json"


def _night_key(schedule: str, night: str) -> str:
    return f"schedules/{schedule}/nights/{night}.json"


def _written(value: Entry | Night) -> bytes:
    return canonical({"version": VERSION, **asdict(value)}).encode()
