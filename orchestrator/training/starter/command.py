"""Runs a training's command: passes SIGTERM on to it, copies its errors to the log, and says how it ended.

It travels into the training: standard library only.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.training.starter.causes import follows
from orchestrator.training.starter.ranks import terminate_ranks

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NOT_EXECUTABLE, NOT_FOUND = 126, 127
_ERROR = re.compile(r"(?:\[[^\]]*\](?:<stderr>)?:? ?)*((?:\w+\.)*\w*(?:Error|Exception|Exit|Interrupt)\b.*|ERROR: .*)")
"""The last line of a traceback; torchrun and mpirun write the rank before it."""
_GAVE_UP = "ChildFailedError"
"""Torchrun's own error when its processes have failed as often as they may."""
_NOT_THE_CAUSE = ("torch.distributed.elastic", _GAVE_UP)
"""Words of errors that only tell of another one."""
_READ_AT_ONCE = 65_536
_KEPT = 100_000
"""Bytes of the end of the errors in which the cause is looked for."""
_SHOWN = 700
"""Characters of it that are shown: SageMaker takes 1024 of the whole reason."""
_LATECOMERS_S = 5.0
"""Seconds to wait for what others still write after the command has ended."""


@dataclass(frozen=True)
class Ended:
    """The end of a command."""

    code: int
    """Its exit code; 128 + n after signal n."""
    error: str
    """The reason, in one line, as far as its errors tell; empty if it ended well."""
    by: str = ""
    """The error that the command itself has ended by, such as torchrun's own."""


def run_command(line: list[str], environ: Mapping[str, str], folder: Path) -> Ended:
    """Run a command until it ends. SIGTERM goes on to it, or to its ranks: they may save, and end by themselves."""
    child = _Child(environ)
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    end, pipe = os.pipe()
    try:
        process = subprocess.Popen(line, env=dict(environ), cwd=str(folder), stderr=pipe)
    except OSError as error:
        os.close(end)
        missing = isinstance(error, FileNotFoundError)
        return Ended(NOT_FOUND if missing else NOT_EXECUTABLE, f"{line[0]} cannot be run: {error.strerror}")
    finally:
        os.close(pipe)
    errors = _Errors(end)
    child.begin(process.pid)
    code = _wait_for(process.pid)
    child.end()
    process.returncode = code
    errors.join(_LATECOMERS_S)
    return Ended(code, errors.cause(code), errors.last()) if code else Ended(code, "")


class _Child:
    """Passes SIGTERM on to a process, also if it comes before the process is there."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._pid = 0
        self._asked = False

    def begin(self, pid: int) -> None:
        self._pid = pid
        if self._asked:
            self.terminate()

    def end(self) -> None:
        self._pid = 0

    def terminate(self) -> None:
        self._asked = True
        # mpirun itself would give its ranks a second only.
        if self._pid and not terminate_ranks(self._environ):
            with contextlib.suppress(ProcessLookupError):  # it has just ended
                os.kill(self._pid, signal.SIGTERM)


def _wait_for(pid: int) -> int:
    """Return a process's exit code, once it has ended. As PID 1 of a container, reap what nobody else waits for."""
    while True:
        found, status = os.wait()
        if found == pid:
            return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


class _Errors(threading.Thread):
    """Copies what a command writes to stderr into the log, and keeps the end of it."""

    def __init__(self, end: int) -> None:
        super().__init__(name="errors", daemon=True)
        self._end = end
        self._kept = b""
        self.start()

    def run(self) -> None:
        for line in iter(lambda: os.read(self._end, _READ_AT_ONCE), b""):
            sys.stderr.buffer.write(line)
            sys.stderr.buffer.flush()
            self._kept = (self._kept + line)[-_KEPT:]

    def cause(self, code: int) -> str:
        """Return the error that a command with this exit code died of: the last that it names, or its last line.

        What follows from another error is it only where nothing else is named.
        """
        lines = self._lines()
        named = [error for error in _errors_in(lines) if not any(word in error for word in _NOT_THE_CAUSE)]
        own = [error for error in named if not follows(error)]
        last = next((line for line in reversed(lines) if line), "")
        if not named and code == 128 + signal.SIGKILL:
            return "killed by SIGKILL, as a process is that takes too much memory"
        return [last, *named, *own][-1][:_SHOWN]

    def last(self) -> str:
        """Return the error that comes last. After ChildFailedError torchrun writes what its processes have said."""
        named = _errors_in(self._lines())
        return next((error for error in named if _GAVE_UP in error), named[-1] if named else "")[:_SHOWN]

    def _lines(self) -> list[str]:
        return [line.strip() for line in self._kept.decode(errors="replace").splitlines()]


def _errors_in(lines: list[str]) -> list[str]:
    return [found[1] for found in map(_ERROR.match, lines) if found]
