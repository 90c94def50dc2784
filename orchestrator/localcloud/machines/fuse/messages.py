"""The messages between us and the kernel, as bytes: include/uapi/linux/fuse.h says what they look like.

Only what a file system has that nobody writes to. Numbers are in the machine's own order.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

VERSION = (7, 31)
"""The version that we speak: Linux 5.4's. A newer kernel speaks it, too."""
LARGEST_QUESTION = 1 << 17
"""Bytes of the largest message that a kernel sends here, where nothing is written."""
LARGEST_READ = 1 << 20

_QUESTION = struct.Struct("=IIQQIIII")
_ANSWER = struct.Struct("=IiQ")
_GREETING = struct.Struct("=IIII")
_GREETED = struct.Struct("=IIIIHHIIHH28x")
_ATTRIBUTES = struct.Struct("=QQQQQQIIIIIIIIII")
_SEEN = struct.Struct("=QII")
_FOUND = struct.Struct("=QQQQII")
_READ = struct.Struct("=QQI")
_OPENED = struct.Struct("=QIi")
_ENTRY = struct.Struct("=QQII")
_STATISTICS = struct.Struct("=QQQQQIIII24x")

_PAGE = 4096
_MAX_PAGES_FLAG = 1 << 22
_KEEP_CACHE = 1 << 1
_FOREVER_S = 1 << 30
"""Seconds for which the kernel may remember what we said: nothing here changes."""
_NAME_MAX = 1024


class Kind(IntEnum):
    """The kinds of questions that are answered."""

    LOOKUP = 1
    FORGET = 2
    GETATTR = 3
    OPEN = 14
    READ = 15
    STATFS = 17
    RELEASE = 18
    FLUSH = 25
    INIT = 26
    OPENDIR = 27
    READDIR = 28
    RELEASEDIR = 29
    INTERRUPT = 36
    DESTROY = 38
    BATCH_FORGET = 42


@dataclass(frozen=True)
class Question:
    """A message from the kernel."""

    kind: int
    unique: int
    """The number by which the kernel knows which question is answered."""
    node: int
    body: bytes


def read_question(message: bytes) -> Question:
    """Return what a message asks."""
    _, kind, unique, node, *_ = _QUESTION.unpack_from(message)
    return Question(kind, unique, node, message[_QUESTION.size :])


def answer(question: Question, body: bytes = b"", error: int = 0) -> bytes:
    """Return the message that answers a question: with a body, or with an error's number."""
    return _ANSWER.pack(_ANSWER.size + len(body), -error, question.unique) + body


def greeted(question: Question) -> bytes:
    """Return the answer to INIT: the version, and how much is read at once."""
    _, _, readahead, flags = _GREETING.unpack_from(question.body)
    pages = LARGEST_READ // _PAGE
    return _GREETED.pack(*VERSION, readahead, flags & _MAX_PAGES_FLAG, 0, 0, _PAGE, 1, pages, 0)


@dataclass(frozen=True)
class Attributes:
    """The facts of a folder or a file."""

    number: int
    mode: int
    links: int = 1
    size: int = 0
    modified: float = 0.0


def _packed(facts: Attributes) -> bytes:
    seconds = int(facts.modified)
    nanos = int((facts.modified - seconds) * 1e9)
    blocks = (facts.size + 511) // 512
    times, parts = [seconds] * 3, [nanos] * 3
    sizes, owner = (facts.number, facts.size, blocks), (facts.mode, facts.links, 0, 0, 0)
    return _ATTRIBUTES.pack(*sizes, *times, *parts, *owner, _PAGE, 0)


def attributes(facts: Attributes) -> bytes:
    """Return the answer's body to GETATTR."""
    return _SEEN.pack(_FOREVER_S, 0, 0) + _packed(facts)


def found(facts: Attributes) -> bytes:
    """Return the answer's body to LOOKUP."""
    return _FOUND.pack(facts.number, 0, _FOREVER_S, _FOREVER_S, 0, 0) + _packed(facts)


def opened() -> bytes:
    """Return the answer's body to OPEN and OPENDIR: what has been read may be kept."""
    return _OPENED.pack(0, _KEEP_CACHE, 0)


def wanted(question: Question) -> tuple[int, int]:
    """Return from which offset on READ and READDIR want how many bytes."""
    _, offset, size = _READ.unpack_from(question.body)
    return offset, size


def entry(number: int, after: int, name: bytes, kind: int) -> bytes:
    """Return one entry of a folder; `after` is the offset at which the next one begins."""
    packed = _ENTRY.pack(number, after, len(name), kind) + name
    return packed + bytes(-len(packed) % 8)


def statistics() -> bytes:
    """Return the answer's body to STATFS: there is no room for anything."""
    return _STATISTICS.pack(0, 0, 0, 0, 0, _PAGE, _NAME_MAX, _PAGE, 0)
