"""The training's own process on this machine: it is begun, read line by line, asked to end, and made to.

It travels into the training: standard library only.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_LATECOMERS_S = 5.0
"""Seconds to wait for what others still write after the process has ended."""


class Child:
    """A process in a group of its own, whose lines somebody takes."""

    def __init__(self, line: list[str], environ: Mapping[str, str], take: Callable[[bytes], None]) -> None:
        """Begin it. Raise OSError when it cannot be begun."""
        self._take = take
        self._process = subprocess.Popen(
            line,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, name="lines", daemon=True)
        self._reader.start()

    def wait(self, seconds: float) -> int | None:
        """Return its exit code, 128 + n after signal n, once all of its lines are taken; None if it still runs."""
        try:
            code = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        self._reader.join(_LATECOMERS_S)
        return code if code >= 0 else 128 - code

    def ask(self) -> None:
        """Ask it to end: it passes SIGTERM on to whatever it has begun."""
        self._process.terminate()

    def kill(self) -> None:
        """End it, and all of its group."""
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            os.killpg(self._process.pid, signal.SIGKILL)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in iter(self._process.stdout.readline, b""):
            self._take(line)
