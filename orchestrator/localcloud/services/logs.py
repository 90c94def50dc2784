"""Brings what processes print into CloudWatch Logs: from the file that a process writes to a log stream."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from orchestrator.localcloud.clock import Clock
    from orchestrator.localcloud.services.moto.backends import LogStreams

_EVERY_S = 1.0
_LONGEST_EVENT = 256 * 1024


@dataclass(frozen=True)
class LogStream:
    """The name of a log stream."""

    region: str
    group: str
    name: str


class Tail:
    """A file that grows, and the stream that it is copied to."""

    def __init__(self, stream: LogStream, file: Path, format_line: Callable[[str], str]) -> None:
        self.stream = stream
        self.file = file
        self._format_line = format_line
        self._read = 0
        self._unfinished = b""

    def new_lines(self, *, last: bool) -> list[str]:
        """Return the whole lines written since the last call; with `last`, the unfinished line too."""
        if not self.file.exists():
            return []
        with self.file.open("rb") as stream:
            stream.seek(self._read)
            data = stream.read()
        self._read += len(data)
        *lines, self._unfinished = (self._unfinished + data).split(b"\n")
        if last and self._unfinished:
            lines.append(self._unfinished)
        texts = (self._format_line(line.decode("utf-8", "replace")) for line in lines if line.strip())
        return [event for text in texts for event in _events(text)]

    @property
    def text(self) -> str:
        """The whole file, as its lines are shown in the log."""
        return "\n".join(self._format_line(line) for line in self.file.read_text(errors="replace").splitlines())


class Logs:
    """Copies each running process's output once a second, at once when someone reads, and a last time at its end."""

    def __init__(self, streams: LogStreams, clock: Clock) -> None:
        self._streams = streams
        self._clock = clock
        self._tails: set[Tail] = set()
        self._lock = threading.Lock()
        self._is_scheduled = False

    def open(self, stream: LogStream, file: Path, format_line: Callable[[str], str] = str) -> Tail:
        """Begin to copy a file to a new stream. `format_line` gives a line the form that the log shows."""
        self._streams.create(stream.region, stream.group, stream.name)
        tail = Tail(stream, file, format_line)
        with self._lock:
            self._tails.add(tail)
            self._schedule_copy()
        return tail

    def close(self, tail: Tail) -> None:
        """Copy the rest of a file, and copy it no more."""
        with self._lock:
            self._tails.discard(tail)
            self._copy(tail, last=True)

    def refresh(self) -> None:
        """Bring every stream up to date. Call it when someone is about to read."""
        with self._lock:
            for tail in self._tails:
                self._copy(tail, last=False)

    def _copy(self, tail: Tail, *, last: bool) -> None:
        if lines := tail.new_lines(last=last):
            stream = tail.stream
            self._streams.put(stream.region, stream.group, stream.name, self._clock.millis(), lines)

    def _schedule_copy(self) -> None:
        """Have all files copied in a second; schedule nothing while there are none."""
        if not self._is_scheduled and self._tails:
            self._is_scheduled = True
            self._clock.after(_EVERY_S, self._copy_all)

    def _copy_all(self) -> None:
        self.refresh()
        with self._lock:
            self._is_scheduled = False
            self._schedule_copy()


def _events(line: str) -> list[str]:
    """Split a line into pieces that are not too long for an event."""
    line = line.rstrip("\r")
    return [line[start : start + _LONGEST_EVENT] for start in range(0, len(line), _LONGEST_EVENT)]
