"""What processes print, on its way to CloudWatch Logs: a file while they run, a log stream for whoever asks."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from orchestrator.localcloud.clock import Clock
    from orchestrator.localcloud.services.moto_backends import Streams

_EVERY_S = 1.0
_LONGEST_EVENT = 256 * 1024


@dataclass(frozen=True)
class Stream:
    region: str
    group: str
    name: str


class Tail:
    """A file that grows, and the stream it is copied to."""

    def __init__(self, stream: Stream, file: Path, shown: Callable[[str], str]) -> None:
        self.stream = stream
        self.file = file
        self._shown = shown
        self._read = 0
        self._rest = b""

    def lines(self, *, last: bool) -> list[str]:
        """The whole lines written since the last look; with `last`, the unfinished one too."""
        if not self.file.exists():
            return []
        with self.file.open("rb") as stream:
            stream.seek(self._read)
            data = stream.read()
        self._read += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        if last and self._rest:
            lines.append(self._rest)
        texts = (self._shown(line.decode("utf-8", "replace")) for line in lines if line.strip())
        return [part for text in texts for part in _events(text)]

    @property
    def text(self) -> str:
        """All of it, as it is shown."""
        return "\n".join(self._shown(line) for line in self.file.read_text(errors="replace").splitlines())


class Logs:
    """Copies each running process's output once a second, at once when someone reads, and a last time at its end."""

    def __init__(self, streams: Streams, clock: Clock) -> None:
        self._streams = streams
        self._clock = clock
        self._tails: set[Tail] = set()
        self._lock = threading.Lock()
        self._waiting = False

    def open(self, stream: Stream, file: Path, shown: Callable[[str], str] = str) -> Tail:
        """`shown`: what becomes of a line on its way."""
        self._streams.create(stream.region, stream.group, stream.name)
        tail = Tail(stream, file, shown)
        with self._lock:
            self._tails.add(tail)
            self._wake()
        return tail

    def close(self, tail: Tail) -> None:
        with self._lock:
            self._tails.discard(tail)
            self._copy(tail, last=True)

    def refresh(self) -> None:
        """Bring every stream up to date: someone is about to read."""
        with self._lock:
            for tail in self._tails:
                self._copy(tail, last=False)

    def _copy(self, tail: Tail, *, last: bool) -> None:
        if lines := tail.lines(last=last):
            stream = tail.stream
            self._streams.put(stream.region, stream.group, stream.name, self._clock.millis(), lines)

    def _wake(self) -> None:
        """Nothing ticks while nothing runs."""
        if not self._waiting and self._tails:
            self._waiting = True
            self._clock.after(_EVERY_S, self._tick)

    def _tick(self) -> None:
        self.refresh()
        with self._lock:
            self._waiting = False
            self._wake()


def _events(line: str) -> list[str]:
    line = line.rstrip("\r")
    return [line[start : start + _LONGEST_EVENT] for start in range(0, len(line), _LONGEST_EVENT)]
