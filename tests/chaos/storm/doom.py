"""Where a process is killed: at its n-th call to AWS, before or after the answer, at a commit, or at a line of ours."""

from __future__ import annotations

import os
import signal
import sys
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.endpoint import Endpoint

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from random import Random
    from types import FrameType

OURS = "/orchestrator/"
MOST = {"call": 50, "answer": 50, "commit": 8, "committed": 8, "line": 12_000}
"""What a process may be killed at, and the highest number of it that is drawn. Low ones are drawn more often."""
COPIES = 12
"""The same of the objects that a launcher copies when its task moves: it is killed before the copy, or after it."""


@dataclass(frozen=True)
class Doom:
    """The end of a process: at the `at`-th thing of this kind."""

    kind: str
    at: int

    @classmethod
    def draw(cls, chance: Random) -> Doom:
        kind = chance.choice(list(MOST))
        return cls(kind, max(1, int(MOST[kind] ** chance.random())))

    @classmethod
    def draw_copy(cls, chance: Random) -> Doom:
        """Return a doom that befalls launchers in the middle of a move."""
        return cls("copy", chance.randint(1, COPIES))

    def await_in_this_process(self, who: str, note: Path) -> None:
        """Have this process killed there. It adds a line to `note` first: who was killed, and where."""
        reach = _Countdown(self, f"{who} {self.kind}\n", note).reach
        if self.kind in ("call", "answer"):
            _wrap(Endpoint, "_send", reach, before=self.kind == "call")
        elif self.kind in ("commit", "committed"):
            from sqlalchemy.engine.default import DefaultDialect  # a launcher has none

            _wrap(DefaultDialect, "do_commit", reach, before=self.kind == "commit")
        elif self.kind == "copy":
            from orchestrator.launcher.moving import moves

            # Odd ones die before an object is copied, and even ones after it.
            _wrap(moves, "copy_object", reach, before=self.at % 2 == 1)
        else:
            _count_lines(reach)


class _Countdown:
    def __init__(self, doom: Doom, words: str, note: Path) -> None:
        self._words = words
        self._note = note
        self._left = doom.at
        self._lock = threading.Lock()

    def reach(self) -> None:
        with self._lock:
            self._left -= 1
            if self._left == 0:
                with self._note.open("a") as file:
                    file.write(self._words)
                os.kill(os.getpid(), signal.SIGKILL)


def _wrap(owner: Any, name: str, reach: Callable[[], None], *, before: bool) -> None:
    original = getattr(owner, name)

    def deadly(*arguments: Any, **named: Any) -> Any:
        if before:
            reach()
        answer = original(*arguments, **named)
        if not before:
            reach()
        return answer

    setattr(owner, name, deadly)


def _count_lines(reach: Callable[[], None]) -> None:
    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if OURS not in frame.f_code.co_filename:
            return None
        if event == "line":
            reach()
        return trace

    threading.settrace(trace)
    sys.settrace(trace)
