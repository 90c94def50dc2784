"""One story on paper: a run from its submit to its end, with kills at its boundaries.

Whoever is killed is called again.
"""

from __future__ import annotations

import logging
import random
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING
from unittest.mock import patch

import orchestrator.launcher.__main__ as launcher
from orchestrator.aws import session
from orchestrator.launcher.world import World
from orchestrator.wire.result import TaskState
from tests.chaos.kills.audit import Auditor
from tests.chaos.kills.commands import LINES, Commands
from tests.chaos.kills.fork import Forks
from tests.chaos.kills.team import MACHINES, Office, Team
from tests.chaos.paper.cloud import Clients, PaperCloud
from tests.chaos.paper.hub import Actor, Hub, Stuck
from tests.chaos.paper.weather import Weather
from tests.fixtures.team import REGIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tests.chaos.report import Report

TRIES = 6
"""Times that a command is played in bad weather. Then the weather ends, and it has to come through."""
CALM_TRIES = 4
RETRIES = 8
COME_TO = ("has ended", "has been cancelled", "was cancelled while")
"""Parts of what commands say that need not be played again: somebody else was faster."""
FAULT = "a fault in the launcher"


@dataclass(frozen=True)
class Choice:
    """What a story is to show."""

    seed: int
    bad_weather: bool
    lines: bool
    often: float
    """The part of boundaries at which somebody is killed."""
    replay: str | None = None
    """The path of the only child that is to be played; None to play all."""


class Script:
    """A story, and all that is in it."""

    def __init__(self, choice: Choice, office: Office, folder: Path) -> None:
        self.chance = Random(choice.seed)
        random.seed(choice.seed)
        self.hub = Hub(Random(choice.seed))
        self.weather = Weather(Random(choice.seed + 1))
        self.cloud = PaperCloud(self.hub, self.weather, choice.seed, self._launch)
        self.team = Team(office, folder)
        self.plan = self.chance.choice(office.plans)
        self.run = f"paper-{choice.seed}"
        self.forks = Forks(self.hub, self._split, self.team.is_whole, str(choice.seed), choice.often)
        self.forks.replay = choice.replay
        self.cloud.boundary = self.forks.reach
        self.commands = Commands(self.team, self.hub, self.forks, self.run, self.plan, choice.lines)
        self.choice = choice

    @property
    def report(self) -> Report:
        return self.forks.report

    @property
    def _auditor(self) -> Auditor:
        return Auditor(self.cloud, self.run, self.report, self.forks.find)

    def play(self) -> Report:
        """Play it, and all that forks from it, to the end."""
        if self.choice.bad_weather:
            self.weather.begin(REGIONS)
        self.forks.told += [str(fault) for fault in self.weather.faults]
        teller = self.hub.spawn(Actor("the script", ""), self._tell)
        with self.hub.rules_time(), self.forks.watching_commits(), self._on_paper():
            try:
                self.hub.run_until(teller)
            except Stuck as stuck:
                self.forks.find("stuck", str(stuck))
        self.report.runs += 1
        self.report.faults += self.weather.struck
        self.team.leave()
        return self.forks.finish()

    @contextmanager
    def _on_paper(self) -> Iterator[None]:
        """Let all clients of AWS be paper ones, and all launchers be actors, while a block runs."""
        faults, log = _Faults(self), logging.getLogger()
        log.addHandler(faults)
        with (
            patch.object(session, "Clients", lambda _=None: Clients(self.cloud)),
            patch.object(launcher, "Clients", lambda: Clients(self.cloud)),
            patch.object(launcher, "real_world", self._world),
        ):
            yield
        log.removeHandler(faults)

    def _split(self) -> None:
        """Go on as a child: what was met so far, the parent counts."""
        self.weather.struck.clear()
        self.team.split()

    def _tell(self) -> None:
        self._come_through("submit")
        if self.hub.chance.random() < 0.5:
            self._come_through("replan")  # few tasks have been started
        for _ in range(self.hub.chance.randint(0, 2)):
            if self.forks.brief:
                break
            self._wander()
            if self.hub.chance.random() < 0.6:
                self._come_through("cancel")
                self._auditor.cancelled()
                self._wander()
                self._come_through("retry")
                if self.hub.chance.random() < 0.3:
                    self._come_through("replan")
        self._wander()
        self.weather.end()
        self._bring_to_an_end()
        self._auditor.ended()
        self._auditor.all_done(self.plan.tasks, *self.commands.look(MACHINES[0]))

    def _wander(self) -> None:
        """Look now and then, from a machine or two, while launchers work and lose their hosts."""
        for _ in range(0 if self.forks.brief else self.hub.chance.randint(0, 3)):
            self.hub.sleep(self.hub.chance.choice([1.0, 40.0, 200.0]))
            self._lose_host()
            machines = self.hub.chance.choice([(), MACHINES[:1], MACHINES[1:], MACHINES])
            self.commands.play(*((machine, self.hub.chance.choice(["sync", "status"])) for machine in machines))

    def _lose_host(self) -> None:
        running = self.cloud.batch.running()
        if running and self.hub.chance.random() < 0.3:
            self.report.faults["host lost"] += 1
            self.hub.kill(self.hub.chance.choice(running))

    def _come_through(self, word: str) -> None:
        """Play a command on one machine or two at once, until it has come through on one."""
        for number in range(TRIES + CALM_TRIES):
            if number == TRIES:
                self.weather.end()
            machines = self.hub.chance.choice([MACHINES, MACHINES[:1], MACHINES[1:]])
            played = self.commands.play(*((machine, word) for machine in machines))
            if any(one.is_ok or any(words in one.said for words in COME_TO) for one in played):
                return
            self.hub.sleep(self.hub.chance.choice([1.0, 60.0]))
        self.forks.find("stuck", f"`sweep {word}` does not come through: {played[-1].said}")

    def _bring_to_an_end(self) -> None:
        """Watch the run until it ends, and retry what is not done."""
        for _ in range(RETRIES):
            self.commands.play((MACHINES[0], "watch"))
            status, _ = self.commands.look(MACHINES[0])
            if status.counts.get(TaskState.DONE) == self.plan.tasks:
                self.commands.play((MACHINES[0], "sync"))
                return
            self._come_through("retry")

    def _launch(self, environ: Mapping[str, str]) -> int:
        if self.choice.lines:
            self.forks.watch_lines(LINES)
        return int(launcher.main({**environ, "AWS_REGION": REGIONS[0]}))

    def _world(self, siblings: int) -> World:
        me = self.hub.current
        assert me is not None

        def sleep(seconds: float) -> None:
            self.hub.sleep(min(seconds, 1.0) if me.terminated else seconds)

        return World(lambda: self.hub.now, sleep, lambda: me.terminated, self.hub.chance.uniform, siblings)


class _Faults(logging.Handler):
    """Takes note of launchers that end by a fault of their own."""

    def __init__(self, script: Script) -> None:
        super().__init__(logging.ERROR)
        self.script = script

    def emit(self, record: logging.LogRecord) -> None:
        if FAULT in record.getMessage():
            text = logging.Formatter().formatException(record.exc_info) if record.exc_info else ""
            self.script.forks.find("bugs", text)
