"""Where a process may be killed, it forks: in the child it is dead, and the story goes on without it.

    actor ──┬── reaches a boundary ── goes on ...                       (the parent waits meanwhile)
            └── child: killed just here ── others go on, the command is given again, audit ── a report to the parent

So the beginning of a story is played once, and each of its boundaries has an end of its own. A boundary is each call to
AWS (before it; after its answer, if it changes something; and `under way`: AWS does it seconds after the caller's
death), each commit, before and after it, and a sample of all lines.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NoReturn

from sqlalchemy.engine.default import DefaultDialect

from tests.chaos.report import Report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from tests.chaos.paper.hub import Actor, Hub

OURS = "/orchestrator/"
LONGEST_S = 300
"""Seconds that a child may take. One that takes longer hangs."""
UNDER_WAY_S = 14.0
"""Seconds after its caller's death until AWS has done the last call: a launcher waits so long for an answer."""
BRIEF = 0.75
"""The part of children that see no more of a story than its end."""
HUNG = "the story hung"


@dataclass
class Forks:
    """The boundaries of one story."""

    hub: Hub
    split: Callable[[], None]
    """Gives a child databases of its own, as the dead machine's disk has them."""
    whole: Callable[[Actor], bool]
    """Returns whether nobody else is in the middle of a transaction: a child could not have its own copy of it."""
    seed: str
    often: float
    """The part of boundaries at which a child is made."""
    again: float = 0.0005
    """The same, in a child: its actors may be killed as well."""
    replay: str | None = None
    """The path of the only child that is to be played, and in this process; None to play all that are drawn."""
    depth: int = 0
    brief: bool = False
    """Go straight to the story's end: most children do, so that a kill costs little."""
    report: Report = field(default_factory=Report)
    told: list[str] = field(default_factory=list)
    seat: int | None = None
    """Where this child's report goes; None in the first process."""
    _reached: int = 0
    _chance: Random = field(init=False)

    def __post_init__(self) -> None:
        self._chance = Random(f"{self.seed} forks")

    def find(self, promise: str, what: str) -> None:
        """Take note of a broken promise, with all that was told until then."""
        self.report.find(promise, "\n    ".join([f"story {self.seed}: {what}", *self.told]))

    def reach(self, where: str, name: str, do: Callable[[], Any] | None) -> None:
        """Take note that the current actor is at a boundary."""
        actor = self.hub.current
        if actor is None or not actor.kind or self.often == 0:
            return
        self._reached += 1
        if self._chance.random() < self.often:
            self._fork(actor, where, name, None)
        if do and self._chance.random() < self.often:
            self._fork(actor, "under way", name, do)

    @contextmanager
    def watching_commits(self) -> Iterator[None]:
        """Make every commit a boundary while a block runs."""
        commit = DefaultDialect.do_commit

        def deadly(dialect: DefaultDialect, connection: Any) -> None:
            self.reach("commit", "commit", None)
            commit(dialect, connection)
            self.reach("committed", "commit", None)

        DefaultDialect.do_commit = deadly  # type: ignore[method-assign]
        try:
            yield
        finally:
            DefaultDialect.do_commit = commit  # type: ignore[method-assign]

    def watch_lines(self, every: int) -> None:
        """Make about one in `every` lines of the current actor a boundary. Children do not: it takes long."""
        if self.depth > 0:
            return
        left = self._chance.randint(1, 2 * every)

        def trace(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal left
            if OURS not in frame.f_code.co_filename:
                return None
            if event == "line":
                left -= 1
                if left == 0:
                    left = self._chance.randint(1, 2 * every)
                    sys.settrace(None)
                    self.reach("line", f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}", None)
                    sys.settrace(trace)
            return trace

        sys.settrace(trace)

    def finish(self) -> Report:
        """Return the report in the first process; in a child, hand it to the parent and end."""
        if self.seat is None:
            return self.report
        with os.fdopen(self.seat, "wb") as seat:
            pickle.dump(self.report, seat)
        sys.stdout.flush()
        os._exit(0)

    def _fork(self, actor: Actor, where: str, name: str, do: Callable[[], Any] | None) -> None:
        if not self.whole(actor):
            return
        path = f"{self.seed}.{self._reached}{'u' if do else ''}"
        if self.replay is not None:
            if f"{self.replay}.".startswith(f"{path}."):
                self._be_killed(actor, path, (where, name), do, None)
            return
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            self._be_killed(actor, path, (where, name), do, writing)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            said = pipe.read()
        _, status = os.waitpid(child, 0)
        self.report.kills[actor.kind, where] += 1
        if said:
            self.report.add(pickle.loads(said))
        else:
            why = HUNG if os.waitstatus_to_exitcode(status) == -signal.SIGALRM else "the story broke off"
            self.find("stuck", f"{why}: {actor.name} killed at {where} {name} ({path})")

    def _be_killed(
        self, actor: Actor, path: str, at: tuple[str, str], do: Callable[[], Any] | None, seat: int | None
    ) -> NoReturn:
        """Go on as if the actor had been killed here."""
        sys.settrace(None)
        signal.alarm(LONGEST_S)
        if self.seat is not None:
            os.close(self.seat)
        self.seat, self.seed, self.depth, self._reached = seat, path, self.depth + 1, 0
        self.report = Report()
        self.often = self.again if self.depth < 2 else 0.0
        self._chance = Random(f"{path} forks")
        self.hub.chance.seed(path)
        self.brief = self._chance.random() < BRIEF
        self.split()
        self.told.append(f"{self.hub.now:.0f} KILLED {actor.name} at {at[0]} {at[1]}")
        if do:
            self.hub.after(self.hub.chance.uniform(0.0, UNDER_WAY_S), lambda: _quietly(do))
        self.hub.kill(actor)
        os._exit(70)  # nobody returns from the dead


def _quietly(do: Callable[[], Any]) -> None:
    """Do what nobody waits for any more: AWS's no is heard by nobody."""
    from botocore.exceptions import ClientError

    try:
        do()
    except ClientError:
        return
