"""Actors that take turns in one thread, and a time that jumps. A fork copies all of them as they stand.

Each actor is a greenlet: a launcher, a command, somebody who writes the script. Whoever sleeps, or waits for AWS, lets
others go on. When all sleep, it is later. One seed draws one order.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from greenlet import getcurrent, greenlet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

BEGINNING = 1_795_305_600.0
"""What time it is when a story begins."""
TURNS = 200_000
"""Turns after which a story is stuck: most take a few thousand."""


class Stuck(Exception):
    """A story does not end."""


@dataclass(eq=False)
class Actor:
    """Somebody who acts, and may be killed."""

    name: str
    kind: str
    """What it is, as the table shows it: `submit`, `launcher`; empty for those who are never killed."""
    act: greenlet | None = None
    wakes_at: float = 0.0
    terminated: bool = False
    """A SIGTERM has come."""
    ended: bool = False
    killed: bool = False
    on_end: Callable[[int | None], None] = lambda _: None
    """Called with its exit code when it has ended, with None when it was killed."""
    answer: Any = None
    machine: str = ""
    """Whose database it uses; empty for those that use none."""

    @property
    def gone(self) -> bool:
        return self.ended or self.killed


@dataclass
class Hub:
    """Lets actors take turns until one of them has ended."""

    chance: Random
    now: float = BEGINNING
    hasty: float = 0.3
    """How often somebody else goes on when an actor calls AWS."""
    actors: list[Actor] = field(default_factory=list)
    _main: greenlet = field(default_factory=getcurrent)
    _dead: list[Actor] = field(default_factory=list)
    """Killed actors are kept as they stand: should they be forgotten, Python would let them clean up."""

    @property
    def current(self) -> Actor | None:
        """The actor whose turn it is; None outside of all."""
        here = getcurrent()
        return next((actor for actor in self.actors if actor.act is here), None)

    def spawn(self, actor: Actor, act: Callable[[], Any]) -> Actor:
        """Let somebody begin to act at their next turn."""

        def live() -> None:
            actor.answer = act()
            actor.ended = True
            self.actors.remove(actor)
            actor.on_end(actor.answer)

        actor.act = greenlet(live, self._main)
        actor.wakes_at = self.now
        self.actors.append(actor)
        return actor

    def after(self, seconds: float, act: Callable[[], Any]) -> None:
        """Do something later."""
        self.spawn(Actor("later", ""), act).wakes_at = self.now + seconds

    def run_until(self, last: Actor) -> None:
        """Let all take turns until this one has ended. Raise Stuck if it does not."""
        for _ in range(TURNS):
            if last.gone:
                return
            ready = [actor for actor in self.actors if actor.wakes_at <= self.now]
            if not ready:
                self.now = min(actor.wakes_at for actor in self.actors)
                continue
            chosen = self.chance.choice(ready)
            assert chosen.act is not None
            chosen.act.switch()
        raise Stuck(f"after {TURNS} turns {[actor.name for actor in self.actors]} still act")

    def sleep(self, seconds: float) -> None:
        """Let the current actor sleep. A SIGTERM wakes it."""
        actor = self.current
        if actor is None:
            self.now += max(seconds, 0.0)
            return
        actor.wakes_at = self.now + max(seconds, 0.0)
        self._main.switch()

    def give_way(self) -> None:
        """Let somebody else go on now and then."""
        if self.chance.random() < self.hasty:
            self.sleep(self.chance.choice([0.0, 0.0, 0.1, 1.0]))

    def wait_for(self, actors: list[Actor]) -> None:
        while any(not actor.gone for actor in actors):
            self.sleep(0.5)

    def terminate(self, actor: Actor) -> None:
        """Send SIGTERM."""
        actor.terminated, actor.wakes_at = True, self.now

    def kill(self, actor: Actor) -> None:
        """Send SIGKILL: nothing of what the actor would still have done happens. It may be the current one."""
        if actor.gone:
            return
        actor.killed = True
        self._dead.append(actor)
        self.actors.remove(actor)
        actor.on_end(None)
        if actor.act is getcurrent():
            self._main.switch()

    @contextmanager
    def rules_time(self) -> Iterator[None]:
        """Make the hub's time everybody's in this process."""
        real = time.time, time.sleep
        time.time, time.sleep = lambda: self.now, self.sleep  # type: ignore[assignment]
        try:
            yield
        finally:
            time.time, time.sleep = real
