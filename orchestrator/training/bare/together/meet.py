"""Lets the machines of one training find each other: each writes where it is, and waits for all others.

Nobody has to be first, and nothing has to be known of the network before. It travels into the training.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.training.bare.files.bucket import NotThere, Uri

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from orchestrator.training.bare.files.bucket import Bucket

HOSTS_FILE = "SWEEP_HOSTS_FILE"
_LOOK_S = 1.0
_MARK = "# sweep"


class DidNotMeet(Exception):
    """Some machine did not come, or the training is over before it began."""


@dataclass(frozen=True)
class Meeting:
    """A place in S3 where the machines of a training leave word for each other."""

    bucket: Bucket
    output: str
    index: int
    instances: int

    def word(self, index: int) -> Uri:
        """Return the address of the word that a machine leaves."""
        return Uri.parse(word_uri(self.output, index))


def word_uri(output: str, index: int) -> str:
    """Return where the word of a machine lies, given the prefix of an attempt."""
    return f"{output}/machines/{index}/here.json"


def read_since(text: bytes) -> float:
    """Return when the machine began that has left this word. Raise ValueError, KeyError or TypeError."""
    return float(json.loads(text)["since"])


def leave_word(meeting: Meeting, said: Mapping[str, str]) -> None:
    """Leave word for the others, over what a machine in this place has left before. Raise S3Failed."""
    meeting.bucket.write(meeting.word(meeting.index), json.dumps(dict(said)).encode())


def hear_word(meeting: Meeting, index: int) -> dict[str, str] | None:
    """Return the word that a machine has left; None if it has left none yet. Raise S3Failed."""
    try:
        found: dict[str, str] = json.loads(meeting.bucket.read(meeting.word(index)))
    except NotThere:
        return None
    return found


def meet(meeting: Meeting, said: Mapping[str, str], patience_s: float, over: Callable[[], str]) -> list[dict[str, str]]:
    """Leave word for the others, and return what each machine has said, in their order.

    Raise DidNotMeet when some machine has said nothing for so long, or when `over` says why nobody need wait.
    """
    leave_word(meeting, said)
    heard: dict[int, dict[str, str]] = {meeting.index: dict(said)}
    ends_at = time.monotonic() + patience_s
    while len(heard) < meeting.instances:
        for index in range(meeting.instances):
            if index not in heard:
                word = hear_word(meeting, index)
                if word is not None:
                    heard[index] = word
        if len(heard) == meeting.instances:
            break
        why = over()
        if why:
            raise DidNotMeet(why)
        if time.monotonic() > ends_at:
            missing = [str(index) for index in range(meeting.instances) if index not in heard]
            raise DidNotMeet(f"machine {', '.join(missing)} did not come within {patience_s:.0f} s")
        time.sleep(_LOOK_S)
    return [heard[index] for index in range(meeting.instances)]


def name_hosts(addresses: list[str], file: str) -> list[str]:
    """Return the names of the machines: algo-1 and so on where they can be made known by this file, else addresses."""
    names = [f"algo-{number}" for number in range(1, len(addresses) + 1)]
    if not file:
        return addresses
    try:
        before = [line for line in Path(file).read_text().splitlines() if not line.endswith(_MARK)]
        ours = [f"{address} {name} {_MARK}" for address, name in zip(addresses, names)]  # noqa: B905 (Python 3.8)
        Path(file).write_text("\n".join([*before, *ours]) + "\n")
    except OSError:
        return addresses
    return names
