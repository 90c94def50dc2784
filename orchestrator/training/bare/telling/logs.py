"""Sends lines to a stream of CloudWatch Logs while they are written, and what is left at the end.

It travels into the training: standard library only.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.training.aws_call import Address, CallFailed, call_by_hand

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from orchestrator.training.credentials import Keyring

_EVERY_S = 1.0
_LONGEST_EVENT = 250_000
"""Bytes; CloudWatch takes 256 KiB with its own 26."""
_MOST_EVENTS, _MOST_BYTES, _OVERHEAD = 10_000, 1_000_000, 26
"""What CloudWatch takes in one call."""
_HELD = 200_000
"""Lines that are held while CloudWatch does not take any; the oldest go first."""


class Stream(NamedTuple):
    """A stream of CloudWatch Logs, and who may write it."""

    region: str
    group: str
    name: str
    environ: Mapping[str, str]
    keyring: Keyring


class Log:
    """Takes lines, in the order in which they come, to standard output and to a stream. No line is waited for."""

    def __init__(self, stream: Stream | None) -> None:
        self._stream = stream
        self._lines: deque[dict[str, Any]] = deque(maxlen=_HELD)
        self._batch: list[dict[str, Any]] = []
        self._over = threading.Event()
        self._is_there = False
        self._thread = threading.Thread(target=self._send_until_over, name="log", daemon=True)
        self._thread.start()

    def say(self, text: str) -> None:
        """Write a line of our own."""
        self.take(f"sweep: {text}\n".encode())

    def take(self, line: bytes) -> None:
        """Take a line as it was written. CloudWatch has no empty ones."""
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
        text = line.decode("utf-8", "replace").rstrip()
        if text:
            self._lines.append({"timestamp": int(time.time() * 1000), "message": text})

    def end(self, within_s: float) -> None:
        """Send what is left, for so long at the most."""
        self._over.set()
        self._thread.join(within_s)

    def _send_until_over(self) -> None:
        said = False
        while self._stream:
            over = self._over.wait(_EVERY_S)
            try:
                while self._lines or self._batch:
                    self._send(self._stream)
                    said = False
            except CallFailed as error:
                if not said:
                    self.say(f"the log does not reach {self._stream.group}: {error}")
                said = True
                if over and error.passes:
                    continue  # `end` says for how long
            if over:
                return

    def _send(self, stream: Stream) -> None:
        if not self._is_there:
            _make(stream)
            self._is_there = True
        size = sum(map(_size, self._batch))
        while self._lines and len(self._batch) < _MOST_EVENTS and size + _size(self._lines[0]) <= _MOST_BYTES:
            event = self._lines.popleft()
            size += _size(event)
            if self._batch:  # CloudWatch refuses a call whose times fall, as they do where a clock is set right
                event["timestamp"] = max(event["timestamp"], self._batch[-1]["timestamp"])
            self._batch.append(event)
        _call(stream, "PutLogEvents", {"logStreamName": stream.name, "logEvents": self._batch})
        self._batch = []


def _size(event: dict[str, Any]) -> int:
    """Return what an event counts as, cut to what CloudWatch takes."""
    encoded = event["message"].encode()
    if len(encoded) > _LONGEST_EVENT:
        event["message"] = encoded[:_LONGEST_EVENT].decode("utf-8", "ignore")
        return _LONGEST_EVENT + _OVERHEAD
    return len(encoded) + _OVERHEAD


def _make(stream: Stream) -> None:
    """Make the stream, and its group if there is none yet."""
    for operation, body in (("CreateLogGroup", {}), ("CreateLogStream", {"logStreamName": stream.name})):
        try:
            _call(stream, operation, body)
        except CallFailed as error:
            if "ResourceAlreadyExists" not in str(error):
                raise


def _call(stream: Stream, operation: str, body: dict[str, Any]) -> None:
    address = Address("logs", stream.region, f"Logs_20140328.{operation}")
    call_by_hand(address, {"logGroupName": stream.group, **body}, stream.environ, stream.keyring)
