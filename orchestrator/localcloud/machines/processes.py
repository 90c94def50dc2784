"""Processes, as the services see them: start one, signal it, be told how it ended. The keeper does the rest."""

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
"""In the environment of all we start: by it the next `up` or `down` finds what a crash left."""


@dataclass(frozen=True)
class Command:
    argv: list[str]
    environment: dict[str, str]
    folder: Path
    log: Path


@dataclass(frozen=True)
class Ending:
    """How a process ended: an exit code, or why it never began."""

    code: int | None
    refusal: str = ""
    signal: int = 0
    """What killed it, if something did."""


@dataclass(frozen=True)
class _Watcher:
    started: Callable[[], None]
    ended: Callable[[Ending], None]


class Processes:
    def __init__(self, home: Path, lost: Callable[[], None]) -> None:
        """`lost` is called when the keeper is gone: then nothing runs any more, and nothing can."""
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
        """Both are called from one thread of ours, in order, and must be short."""
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
        """To the process alone, as to PID 1 of a container. Signalling what has ended does nothing."""
        self._order({"signal": name, "number": int(number)})

    def close(self) -> None:
        """Ends everything, and returns when it is gone."""
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
                self._tell(json.loads(line))
            except Exception:
                log.exception("the end of a process went unheard")
        if not self._closing:
            self._lost()

    def _tell(self, event: dict[str, Any]) -> None:
        if "started" in event:
            self._watchers[event["started"]].started()
        elif "ended" in event:
            self._watchers.pop(event["ended"]).ended(Ending(event["code"], signal=event["signal"]))
        else:
            self._watchers.pop(event["refused"]).ended(Ending(None, event["reason"]))
