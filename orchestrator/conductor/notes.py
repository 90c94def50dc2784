"""The notes of one instance in the control bucket: each written once, before anything is done.

conductor/<goal>/<instance>/notes/<k>.json         what is to be done, put once before it is
conductor/<goal>/<instance>/notes/<k>.done.json    what became of it, put once
conductor/<goal>/<instance>/end.json               how it all ended: what the last note says, found at once
conductor/<goal>/<instance>/alive.json             when a conductor was last seen, and what it waits for
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from orchestrator.conductor.step import Action, Done, End, Note
from orchestrator.errors import AlreadyExists, NotFound
from orchestrator.wire.names import canonical
from orchestrator.wire.stored import VERSION, check_version, damage_named, restore

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.aws.s3 import S3

_NOTE = re.compile(r"([1-9][0-9]{0,8})(\.done)?\.json")


@dataclass(frozen=True)
class Alive:
    """The last word of a conductor."""

    at: float
    """The moment of it, in seconds since the epoch."""
    why: str
    """What it waits for."""


class Notes:
    """What was decided in one instance, and what became of it. Several conductors may write at once."""

    def __init__(self, s3: S3, goal: str, instance: str) -> None:
        """Take the control bucket, the digest of what is to be reached, and the name of this time of reaching it."""
        self.s3 = s3
        self.prefix = f"conductor/{goal}/{instance}/"
        self._done: dict[int, Note] = {}
        """Notes that nobody will ever change again."""

    def read(self) -> tuple[Note, ...]:
        """Return every note, in order. Damaged if one cannot be understood."""
        folder = f"{self.prefix}notes/"
        found: dict[int, bool] = {}
        for item in self.s3.list(folder):
            name = _NOTE.fullmatch(item.key.removeprefix(folder))
            if name:
                found[int(name[1])] = found.get(int(name[1]), False) or bool(name[2])
        return tuple(self._note(number, found[number]) for number in sorted(found))

    def _note(self, number: int, done: bool) -> Note:
        if number in self._done:
            return self._done[number]
        note: Note = self._read(f"notes/{number}.json", lambda body: _note(number, body))
        if not done:
            return note
        result = self._read(f"notes/{number}.done.json", lambda body: restore(Done, body))
        return self._done.setdefault(number, replace(note, done=result))

    def begin(self, number: int, action: Action, now: float) -> bool:
        """Write down what is to be done. Return False if another conductor has written another note of this number."""
        return self._put_once(f"notes/{number}.json", {**asdict(action), "at": now})

    def finish(self, number: int, done: Done) -> bool:
        """Write down what became of a note. Return False if somebody was first: then theirs is what counts."""
        return self._put_once(f"notes/{number}.done.json", asdict(done))

    def end(self, end: End) -> None:
        """Tell how it ended where it is found at once, after the last note has said so."""
        self._put_once("end.json", asdict(end))

    def ended(self) -> End | None:
        """Return how it ended; None while nobody has told."""
        found: End | None = self._find("end.json", lambda body: restore(End, body))
        return found

    def has_ended(self) -> bool:
        """Return whether somebody has told that it has ended, be that readable or not."""
        return self.s3.exists(f"{self.prefix}end.json")

    def beat(self, alive: Alive) -> None:
        """Say that somebody is at work, and what it waits for. Another conductor's word is as good as ours."""
        key = f"{self.prefix}alive.json"
        try:
            etag = self.s3.get(key).etag
        except NotFound:
            etag = None
        try:
            self.s3.put_if(key, _written(asdict(alive)), etag)
        except (AlreadyExists, NotFound):
            return

    def alive(self) -> Alive | None:
        """Return the last word of a conductor of this instance; None if none has ever said one."""
        found: Alive | None = self._find("alive.json", lambda body: restore(Alive, body))
        return found

    def _put_once(self, name: str, body: dict[str, Any]) -> bool:
        return self.s3.put_once(self.prefix + name, _written(body))

    def _find(self, name: str, read: Callable[[dict[str, Any]], Any]) -> Any:
        try:
            return self._read(name, read)
        except NotFound:
            return None

    def _read(self, name: str, read: Callable[[dict[str, Any]], Any]) -> Any:
        stored = self.s3.get(self.prefix + name)
        with damage_named(self.s3.uri(self.prefix + name)):
            body = stored.json()
            check_version(body, "conductor's note")
            return read(body)


def _note(number: int, body: dict[str, Any]) -> Note:
    return restore(Note, {"number": number, "action": body, "at": body["at"]}, action=lambda it: restore(Action, it))


def _written(body: dict[str, Any]) -> bytes:
    return canonical({"version": VERSION, **body}).encode()
