"""What befalls one run, from its submit to its end. Whoever is killed is started again, as a person would do it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from tests.chaos.report import Report
from tests.chaos.storm.audit import Auditor, counts
from tests.chaos.storm.casts import draw_story
from tests.chaos.storm.checkpoints import CheckpointAuditor
from tests.chaos.storm.commands import Command, Commands, Played
from tests.chaos.storm.doom import Doom
from tests.chaos.storm.stage import GOLDEN
from tests.chaos.storm.troubles import Troubles

if TYPE_CHECKING:
    from tests.chaos.storm.casts import Cast
    from tests.chaos.storm.stage import Stage

KILLED = 0.6
"""The part of commands that are killed, while the stage is not calm."""
TRIES = 6
"""Times that a command is played in trouble. Then the trouble ends, and it has to come through."""
CALM_TRIES = 4
HAS_ENDED = "has ended ("
"""Part of what a cancel says of a run that has ended by itself."""
RETRIES = 8
"""Times that what has failed is retried, once all is calm."""


@dataclass
class Story:
    """One run, and what is played with it."""

    stage: Stage
    seed: int
    number: int
    """Which of the stories it is, from 0."""
    able: list[tuple[Cast, int]]
    """The casts that may play, with how often each is drawn."""
    report: Report = field(default_factory=Report)
    told: list[str] = field(default_factory=list)
    """What happened, in order: shown if a promise was broken."""

    def __post_init__(self) -> None:
        self.name = f"chaos-{self.seed}-{self.number}"
        self.chance = Random(self.name)
        self.cast, self.platforms = draw_story(self.able, self.seed + self.number, self.chance)
        self.commands = Commands(self.stage)
        self.troubles = Troubles(self.stage)
        self.auditor = Auditor(self.stage, self.name, self.report)
        self.calm = False
        self.limited = False
        """Somebody may have limited how much of it runs at once."""

    def play(self) -> None:
        """Play it to its end, and hold what is there against what was promised."""
        plan = self.stage.write_plan(self.name, self.cast, self.chance, self.platforms)
        self.stage.calm(False)
        self.told += [f"{self.name}: {self.cast.name}, on {', '.join(self.platforms)}"]
        self.told += self.troubles.begin(self.number, self.chance, mixed=self.platforms != ("sagemaker",))
        self._come_through("submit", f"{self.name}.json", "--yes", "--name", self.name)
        self._disturb(self.chance.randint(1, 4) + self.cast.moves)
        if self.chance.random() < 0.5:
            self._come_through("cancel", self.name, "--yes")
            self.auditor.nothing_lives("after its cancel")
            self._come_through("retry", self.name)
            self._disturb(self.chance.randint(0, 3))
        self._calm_down()
        self.stage.broken(self.name).unlink(missing_ok=True)
        if self.limited:
            self._come_through("limit", self.name, "--off")
        self._bring_to_an_end()
        self.auditor.nothing_lives_at_the_end()
        believed = self._play_one("status", self.name, "--json")
        self._read_golden()
        ledger = self.stage.orchestrator(self.cast.machines[0]).run(self.name).ledger
        outcomes = [outcome for known in ledger.known(self.name) for outcome in known.result.outcomes]
        self.auditor.all_done(plan.tasks, counts(believed.output), outcomes, elastic=self.cast.elastic > 0)
        if self.cast.checkpoints:
            checkpoints = CheckpointAuditor(self.stage, self.name, self.report)
            checkpoints.none_is_lost()
            if self.cast.moves:
                checkpoints.each_copy_is_paid_once(plan, [known.result for known in ledger.known(self.name)])
        if self.cast.elastic:
            self.auditor.count_restarts()
        self.report.runs += 1
        self.report.faults += self.troubles.struck

    def _read_golden(self) -> None:
        """Check that a run of the first version can be read still."""
        played = self._play_one("status", GOLDEN)
        if played.code != 0 or GOLDEN not in played.output:
            self.report.find("untrue", f"`{played.command}` says {played.code}: {played.output}")

    def _disturb(self, times: int) -> None:
        """Look at the run now and then, from both machines, while something is hit."""
        for _ in range(times):
            time.sleep(self.chance.uniform(0, 1.0))
            self.told.append(self._strike())
            looks = [("sync", self.name), ("status", self.name), ("results", self.name), ("cost", self.name)]
            looks += [("why", self.name), ("status", GOLDEN), self._limit(), self._replan()]
            self._play(*(self._command(machine, *self.chance.choice(looks)) for machine in self.cast.machines))

    def _strike(self) -> str:
        """Hit something of the run. Return what came, in words."""
        hit = self.troubles.strike
        if self.cast.moves:
            hit = self.troubles.take_away
        elif self.cast.elastic:
            hit = self.troubles.lose_pod
        return hit(self.name, self.chance)

    def _limit(self) -> tuple[str, ...]:
        """Return a command that limits the run; the older version has none."""
        if "old" in self.cast.machines:
            return ("status", self.name)
        self.limited = True
        return ("limit", self.name, "--slots", str(self.chance.randint(0, 2)))

    def _replan(self) -> tuple[str, ...]:
        """Return a command that moves what has not been started: prices have changed. The older version has none."""
        if "old" in self.cast.machines:
            return ("status", self.name)
        self.stage.change_prices(self.chance)
        return ("replan", self.name, "--yes")

    def _come_through(self, *words: str) -> None:
        """Play a command on both machines at once, again and again, until it has come through on one."""
        for number in range(TRIES + CALM_TRIES):
            if number == TRIES:
                self._calm_down()
            machines = self.cast.machines if number % 2 == 0 else (self.chance.choice(self.cast.machines),)
            played = self._play(*(self._command(machine, *words) for machine in machines))
            if any(one.code == 0 or HAS_ENDED in one.output for one in played):
                return
        self.report.find("stuck", f"{self.name}: `sweep {' '.join(words)}` does not come through: {played[-1].output}")

    def _bring_to_an_end(self) -> None:
        """Watch the run until its end, and retry what has failed on the way."""
        for _ in range(RETRIES):
            if self._play_one("watch", self.name, "--json").code == 0:
                return
            self._play_one("results", self.name)
            self._play_one("retry", self.name)
        self._play_one("watch", self.name, "--json")

    def _calm_down(self) -> None:
        self.calm = True
        self.troubles.end()
        self.stage.calm(True)

    def _command(self, machine: str, *words: str) -> Command:
        doomed = not self.calm and self.chance.random() < KILLED
        return Command(machine, words, Doom.draw(self.chance) if doomed else None)

    def _play_one(self, *words: str) -> Played:
        return self._play(Command(self.cast.machines[0], words))[0]

    def _play(self, *commands: Command) -> list[Played]:
        played = self.commands.play(*commands)
        for one in played:
            self.told.append(f"{one.command} -> {one.code} {one.output.strip()[-200:]}")
            if one.killed and one.command.doom:
                self.report.kills[one.command.words[0], one.command.doom.kind] += 1
            if one.stuck:
                self.report.find("stuck", f"{one.command}: {one.output[-1000:]}")
            if one.has_bug:
                self.report.find("bugs", f"{one.command}: {one.output[-2000:]}")
        return played
