"""Conducts the nights of a schedule: takes up those whose conductor is gone, begins the one that is due, drives it."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING

from orchestrator.conductor.drive import drive
from orchestrator.conductor.notes import Notes
from orchestrator.errors import Damaged, NewerVersion, SweepError
from orchestrator.nightly import aftermath
from orchestrator.nightly.aftermath import raise_alarm
from orchestrator.nightly.calendar import due, moment
from orchestrator.nightly.dead_letters import tell_dead_letters
from orchestrator.nightly.goal import read_goal
from orchestrator.nightly.lost import why_lost
from orchestrator.nightly.picking.under_way import UnderWay
from orchestrator.nightly.shelf import Night, Shelf
from orchestrator.nightly.team import Team
from orchestrator.nightly.work import NightWork

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from orchestrator.aws.s3 import S3
    from orchestrator.conductor.drive import Time
    from orchestrator.conductor.step import End
    from orchestrator.nightly.goal import Goal
    from orchestrator.orchestrator import Orchestrator

log = logging.getLogger(__name__)

SILENT_S = 900.0
"""Seconds without a word from a conductor after which it is taken for gone. It says one every minute."""
LATE_S = 1800.0
"""Seconds after its time from which on a night that did not begin is an alarm: Batch takes minutes to start a job."""
LOOKED_AT = 20
"""The newest nights that are looked at, for one that has not ended."""


class Clock:
    """The time, never earlier than the tick that started us: who ticks may be ahead of this machine's clock."""

    def __init__(self, tick: float | None = None) -> None:
        self._ahead = max(0.0, (tick or 0.0) - time.time())

    def now(self) -> float:
        """Return the seconds since the epoch."""
        return time.time() + self._ahead

    def sleep(self, seconds: float) -> None:
        """Let so many seconds pass."""
        time.sleep(seconds)


@dataclass(frozen=True)
class Conducted:
    """A night that has ended."""

    night: str
    end: End


class Conductor:
    """Conducts the nights of one schedule."""

    def __init__(
        self, s3: S3, schedule: str, clock: Time, team: Callable[[Goal, S3], Orchestrator] | None = None
    ) -> None:
        """Take, last, what opens the Orchestrator of a goal; unless given, it is as the goal was frozen."""
        self._s3 = s3
        self._shelf = Shelf(s3)
        self._schedule = schedule
        self._clock = clock
        self._open = team or self._open_team
        self._teams: list[Team] = []
        self._left_out: set[str] = set()
        """Nights of which was said that they are left out."""

    def _open_team(self, goal: Goal, s3: S3) -> Orchestrator:
        self._teams.append(Team(goal, s3))  # its catalog stays for as long as we do
        return self._teams[-1].open()

    def tick(self, by: str) -> Iterator[Conducted]:
        """Conduct what is due now, and what was begun and given up. Yield each night when it has ended.

        `by` names who does it, and is the same when it is started again: then its own nights are gone on with. A
        schedule that is paused begins no night. UsageError if there is no such schedule.
        """
        entry = self._shelf.entry(self._schedule)
        goal = read_goal(self._s3, entry.goal)
        tell_dead_letters(goal, self._s3)
        now = self._clock.now()
        nights = [] if entry.paused else due(goal.when, entry.since, now)
        tonight = Night(nights[-1].isoformat(), entry.name, entry.goal, now, by) if nights else None
        begun = tonight is not None and self._shelf.begin(tonight)
        earlier = [night for night in self._open_nights() if night != tonight]
        self._tell_stuck(earlier)
        given_up = [night for night in earlier if self._is_ours(night, by)]
        given_up += self._given_up_elsewhere(goal)
        if tonight and begun:
            self._tell_late(goal, tonight)
        new = [tonight] if tonight and begun else []
        yield from self._conduct_all([*new, *given_up] if goal.when.overlap == "replace" else [*given_up, *new])

    def _conduct_all(self, nights: Sequence[Night]) -> Iterator[Conducted]:
        """Conduct these nights. One that fails holds up none of the others: its error is raised after them."""
        failed: SweepError | None = None
        for night in nights:
            try:
                yield self.conduct(night)
            except SweepError as error:
                log.warning("the night %s cannot be gone on with now: %s", night.id, error)
                failed = failed or error
        if failed:
            raise failed

    def _given_up_elsewhere(self, goal: Goal) -> list[Night]:
        """Return nights of other schedules of the workload that hold tasks of it, and that nobody conducts any more."""
        found = []
        for claim in UnderWay(self._s3, goal.sweep.name).live():
            night = None if claim.schedule == self._schedule else self._shelf.night(claim.schedule, claim.night)
            if night and self.is_silent(night):
                found.append(night)
        return found

    def _is_ours(self, night: Night, by: str) -> bool:
        return night.by == by or self.is_silent(night)

    def now(self, by: str, *, force: bool) -> Night:
        """Begin a night of today that no time has asked for, and return it. Its id has a number behind the date."""
        entry = self._shelf.entry(self._schedule)
        goal = read_goal(self._s3, entry.goal)
        day = datetime.fromtimestamp(self._clock.now(), goal.when.zone).date().isoformat()
        number = 1
        while True:
            night = Night(f"{day}-r{number}", entry.name, entry.goal, self._clock.now(), by, force)
            if self._shelf.begin(night):
                return night
            number += 1

    def conduct(self, night: Night) -> Conducted:
        """Do what is left of a night, and return how it ended."""
        goal = read_goal(self._s3, night.goal)
        opened: list[Orchestrator] = []

        def team() -> Orchestrator:
            if not opened:
                opened.append(self._open(goal, self._s3))
            return opened[0]

        work = NightWork(goal, night, self._s3, team, lambda: self._earlier(night))
        end = drive(work, self.notes(night), self._clock)
        if end.exit:
            _alarm(goal, night, end.why)
        return Conducted(night.id, end)

    def _tell_late(self, goal: Goal, night: Night) -> None:
        """Raise an alarm for a night that began long after its time: something kept it from beginning."""
        late = night.at - moment(goal.when, date.fromisoformat(night.id))
        if late > LATE_S:
            said = f"no conductor began it at its time; it began {late / 60:,.0f} minutes late"
            _alarm(goal, night, said)

    def _tell_stuck(self, nights: Sequence[Night]) -> None:
        """Tell of the runs of nights that should have ended what holds them up, if something does."""
        for night in nights:
            sent = [note.done for note in self.notes(night).read() if note.action.kind == "submit" and note.done]
            for run in [done.value["run"] for done in sent if "run" in done.value]:
                try:
                    aftermath.tell_if_stuck(self._open(read_goal(self._s3, night.goal), self._s3), run)
                except SweepError as error:  # whoever conducts the night says what is wrong with it
                    log.warning("whether %s is stuck is not known: %s", run, error)

    def notes(self, night: Night) -> Notes:
        """Return the notes of a night."""
        return Notes(self._s3, night.goal, night.instance)

    def is_silent(self, night: Night) -> bool:
        """Return whether nobody has said a word of this night for so long that nobody is at it any more."""
        try:
            alive = self.notes(night).alive()
        except (Damaged, NewerVersion) as error:  # whoever conducts it writes its next word over it
            log.warning("the night %s: nobody knows when it was last heard of: %s", night.id, error)
            alive = None
        return self._clock.now() - max(night.at, alive.at if alive else 0.0) > SILENT_S

    def _open_nights(self) -> list[Night]:
        """Return the nights that have not ended, the oldest first. One that cannot be understood is left out."""
        nights = list(self._shelf.newest(self._schedule, LOOKED_AT, self._leave_out))[::-1]
        return [night for night in nights if self._is_open(night)]

    def _is_open(self, night: Night) -> bool:
        if self.notes(night).has_ended():
            return False
        lost = why_lost(self._s3, night.schedule, night.id, night.goal)
        if lost:
            self._leave_out(night.id, lost)
        return lost is None

    def _leave_out(self, night: str, error: SweepError) -> None:
        if night not in self._left_out:
            log.warning("the night %s is left out: %s", night, error)
        self._left_out.add(night)

    def _earlier(self, night: Night) -> list[str]:
        """Return the ids of the nights that began before this one and have not ended."""
        return [other.id for other in self._open_nights() if (other.at, other.id) < (night.at, night.id)]


def _alarm(goal: Goal, night: Night, said: str) -> None:
    """Raise an alarm, as far as anybody can: where the settings cannot even be used, the log is all there is."""
    try:
        raise_alarm(goal, night.id, said)
    except SweepError as error:
        log.warning("nobody is told of the night %s (%s): %s", night.id, said, error)
