"""Processes, as the services see them: start one, signal it, hear how it ended. `keeper.py` does the rest."""

from __future__ import annotations

import itertools
import json
import logging
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger(__name__)

HOME_VARIABLE = "LOCALCLOUD_HOME"
"""The variable that marks every process we start: by it the next `up` or `down` finds what a crash left."""
SHARED_CORES = {
    "OMPI_MCA_mpi_yield_when_idle": "1",  # ranks that spin keep those they wait for from running
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
}
"""Variables that let the trainings of many machines share this one's cores."""


@dataclass(frozen=True)
class Command:
    """What to start: words, variables, a folder to run in, and the file that takes all output."""

    argv: list[str]
    environment: dict[str, str]
    folder: Path
    log: Path
    waits: bool = False
    """True for a process that only waits for those that are started with it."""


@dataclass(frozen=True)
class Ending:
    """The end of a process: an exit code, or why it never began."""

    code: int | None
    """The exit code, as a container runtime reports it; None when the process never began."""
    refusal: str = ""
    """Why the process never began."""
    signal: int = 0
    """The signal that killed the process; 0 when none did."""


@dataclass(frozen=True)
class _Watcher:
    """Whom to call when a process has started, and when it has ended."""

    started: Callable[[], None]
    ended: Callable[[Ending], None]


class Processes:
    """All processes of one local cloud, owned by one keeper."""

    def __init__(self, home: Path, lost: Callable[[], None]) -> None:
        """Start the keeper. `lost` is called when it is gone: then nothing runs any more, and nothing can."""
        self._home = str(home)
        self._lost = lost
        self._names = (str(number) for number in itertools.count(1))
        self._watchers: dict[str, _Watcher] = {}
        self._lock = threading.Lock()
        self._closing = False
        self._keeper = subprocess.Popen(
            [sys.executable, "-I", "-S", str(Path(__file__).with_name("keeper.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        threading.Thread(target=self._listen, name="processes", daemon=True).start()

    def start(self, command: Command, started: Callable[[], None], ended: Callable[[Ending], None]) -> str:
        """Start a process, and return the name that `signal` takes.

        `started` and `ended` are called from one thread of ours, in order, and must be short. For a process that
        cannot begin, only `ended` is called.
        """
        name = next(self._names)
        self._watchers[name] = _Watcher(started, ended)
        self._order(
            {
                "start": name,
                "argv": command.argv,
                "environment": {**command.environment, HOME_VARIABLE: self._home},
                "folder": str(command.folder),
                "log": str(command.log),
            }
        )
        return name

    def signal(self, name: str, number: int) -> None:
        """Send a signal to the process alone, as to PID 1 of a container. What has ended is left alone."""
        self._order({"signal": name, "number": int(number)})

    def close(self) -> None:
        """End all processes, and return when they are gone."""
        self._closing = True
        with self._lock:
            if self._keeper.stdin:
                self._keeper.stdin.close()
        self._keeper.wait()

    def _order(self, order: dict[str, Any]) -> None:
        with self._lock:
            if self._closing or self._keeper.stdin is None:
                return
            self._keeper.stdin.write(json.dumps(order).encode() + b"\n")
            self._keeper.stdin.flush()

    def _listen(self) -> None:
        for line in self._keeper.stdout or ():
            try:
                self._notify(json.loads(line))
            except Exception:
                log.exception("the end of a process went unheard")
        if not self._closing:
            self._lost()

    def _notify(self, event: dict[str, Any]) -> None:
        if "started" in event:
            self._watchers[event["started"]].started()
        elif "ended" in event:
            self._watchers.pop(event["ended"]).ended(Ending(event["code"], signal=event["signal"]))
        else:
            self._watchers.pop(event["refused"]).ended(Ending(None, event["reason"]))
