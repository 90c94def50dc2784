"""The loop of every conductor: finish what was begun, ask what is next, write it down, do it."""

from __future__ import annotations

import logging
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from orchestrator.conductor.notes import Alive
from orchestrator.conductor.step import Action, Do, Done, End, Seen, Wait
from orchestrator.errors import DatabaseAway, SweepError, Throttled, Unreachable

if TYPE_CHECKING:
    from orchestrator.conductor.notes import Notes
    from orchestrator.conductor.step import Note, Strategy

log = logging.getLogger(__name__)

END = "end"
"""The kind of the last note."""
PASSING = (Throttled, Unreachable, DatabaseAway)
"""Errors that say nothing about what was asked: asking again later helps."""
GIVE_UP_S = 3600.0
"""Seconds after which an error that should pass is taken for one that will not."""
BEAT_S = 60.0
"""Seconds between two looks, at the most: so often a conductor says that it is at work."""
_FIRST_S = 2.0
_LONGEST_S = 60.0


class Time(Protocol):
    """Tells the time, and lets it pass."""

    def now(self) -> float:
        """Return the seconds since the epoch."""
        ...

    def sleep(self, seconds: float) -> None:
        """Let so many seconds pass."""
        ...


@dataclass
class _Patience:
    """Counts the time for which an error that should pass has not."""

    since: float | None = None
    tries: int = 0

    def is_over(self, now: float) -> bool:
        """Return whether it is time to give up; the first call only begins to count."""
        if self.since is None:
            self.since = now
        return now - self.since >= GIVE_UP_S

    def pause(self) -> float:
        """Return the seconds until the next try: longer each time, and never those of another conductor."""
        self.tries += 1
        return random.uniform(0.5, 1.0) * min(_LONGEST_S, _FIRST_S * 2.0**self.tries)


def drive(strategy: Strategy[Any], notes: Notes, time: Time) -> End:
    """Do what the strategy asks for until nothing is left, and return how it ended.

    It may be killed at any line and called again, and another one may be at the same work: every note is done before
    the next decision, and doing it again is harmless. Raise what the bucket, or a look at the world, refuses for good.
    """
    patience = _Patience()
    while True:
        try:
            end = _turn(strategy, notes, time)
        except PASSING as error:
            if patience.is_over(time.now()):
                raise
            _wait_out(error, patience, time)
            continue
        patience = _Patience()
        if end:
            return end


def _turn(strategy: Strategy[Any], notes: Notes, time: Time) -> End | None:
    """Do one thing: finish a note, or decide. Return how it ended once it has."""
    known = notes.read()
    if known and known[-1].action.kind == END:
        end = End(known[-1].action.about["exit"], known[-1].action.about["why"])
        notes.end(end)
        return end
    undone = [note for note in known if note.done is None]
    if undone:
        _finish(undone[0], strategy, notes, time)
        return None
    wanted = strategy.step(Seen(time.now(), known, strategy.look(known)))
    if isinstance(wanted, Wait):
        now = time.now()
        notes.beat(Alive(now, wanted.why))
        time.sleep(min(max(wanted.until - now, 0.0), BEAT_S))
        return None
    action = wanted.action if isinstance(wanted, Do) else Action(END, {"exit": wanted.exit, "why": wanted.why})
    # An end is a note too: who ends and who goes on cannot both have the next number. The next turn does what is there.
    notes.begin(len(known) + 1, action, time.now())
    return None


def _finish(note: Note, strategy: Strategy[Any], notes: Notes, time: Time) -> None:
    """Do what a note says, however often it takes, and write down what became of it."""
    notes.beat(Alive(time.now(), f"at work: {note.action.kind}"))
    patience = _Patience()
    while True:
        try:
            done = _act(strategy, note.action)
        except PASSING as error:
            if patience.is_over(time.now()):
                done = Done(error=str(error), exit=error.exit_code)
            else:
                _wait_out(error, patience, time)
                continue
        notes.finish(note.number, done)
        return


def _act(strategy: Strategy[Any], action: Action) -> Done:
    """Do it. Return its value, or the error that will not pass. What passes is raised."""
    try:
        return Done(strategy.act(action))
    except PASSING:
        raise
    except SweepError as error:
        return Done(error=str(error), exit=error.exit_code)


def _wait_out(error: SweepError, patience: _Patience, time: Time) -> None:
    seconds = patience.pause()
    log.warning("%s: trying again in %.0f s", error, seconds)
    time.sleep(seconds)
