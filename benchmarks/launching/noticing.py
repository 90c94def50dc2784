"""How late do launchers notice that their training has ended, and how many calls does it take?

Real lookouts watch trainings that are only known by their beginning and end. So many run at once in one Region; where
one has ended, another begins, about one a second, as AWS lets them. Every ten minutes the launcher that writes the
board is killed.
"""

from __future__ import annotations

import heapq
import logging
import os
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchmarks.figure import Figure, number
from benchmarks.launching.crowd import REGION, Bucket, Region
from orchestrator.aws.control import Control, SeenBoard
from orchestrator.aws.session import Clients
from orchestrator.launcher.watching import pace as rates
from orchestrator.launcher.watching.lookout import Lookout
from orchestrator.launcher.watching.pace import Pace
from orchestrator.launcher.world import World
from orchestrator.platforms.sagemaker.runner import SageMakerRunner
from orchestrator.wire.result import Attempt
from orchestrator.wire.task import Lane, Purchase
from orchestrator.wire.template import Template

if TYPE_CHECKING:
    from collections.abc import Iterator

BUDGETS = {2_000: 60.0, 10_000: 120.0}
"""Seconds in which 95 of 100 ends are to be noticed, by the trainings that run at once."""
LISTS = 2.0
LOG_CALLS = 25.0
STARTS_A_SECOND = 1.0
PLAYED_S = 2_400
KILLED_EVERY_S = 600
LANE = Lane("sagemaker", REGION, "ml.g5.xlarge", Purchase.SPOT)
TEMPLATE = Template("sagemaker", REGION, "nightly", "ada", {}, "s3://out")


class Alone(Pace):
    """The pace of launchers that have no board."""

    needs_board = False


class Before(Alone):
    """The pace before the play begins: as beside a board that names nothing."""

    @property
    def alone_s(self) -> float:
        return self.beside_board_s


class ReadOnce(Control):
    """A control bucket whose boards are decoded once for all: here all launchers are one process."""

    def board(self, platform: str, region: str) -> SeenBoard | None:
        there = self.s3.get(self.keys.board(platform, region)) if self._seen else None
        if there is None or self._seen is None or there.etag != self._seen.etag:
            self._seen = super().board(platform, region)
            return self._seen
        return SeenBoard(self._seen.board, there.etag, there.moment)

    _seen: SeenBoard | None = None


@dataclass
class Launcher:
    attempt: Attempt
    lookout: Lookout
    seen: dict[str, str] = field(default_factory=dict)


class Play:
    """So many launchers, each with one training after the other."""

    def __init__(self, pace: Pace) -> None:
        self.pace = pace
        self.region = Region()
        clients = Clients()
        self.region.serve(clients)
        self.runner = SageMakerRunner(clients)
        self.control = ReadOnce(Bucket(self.region), "nightly")  # type: ignore[arg-type]
        self.chance = random.Random(7)
        self.world = World(lambda: self.region.now, lambda _: None, lambda: False, self.chance.uniform)
        self.late: list[float] = []
        """How late each end was noticed, in seconds."""
        self._started = 0

    def run(self) -> None:
        """Play for a while, with trainings that have begun at any time before."""
        begin = self.region.now
        turns = [(begin, slot, self._running_at(begin)) for slot in range(self.pace.at_once)]
        end = begin + PLAYED_S
        kill_at = begin + KILLED_EVERY_S
        while turns and turns[0][0] < end:
            self.region.now, slot, launcher = heapq.heappop(turns)
            if self.region.now >= kill_at and launcher.lookout.holds_board:
                kill_at += KILLED_EVERY_S
                launcher = self._launcher(launcher.attempt)
            pause = self._play(launcher)
            heapq.heappush(turns, (self.region.now + pause, slot, launcher if pause else self._next()))

    def _running_at(self, begin: float) -> Launcher:
        """Return a launcher whose training runs already, and was looked at now and then."""
        launcher, seconds = self._next(), self._seconds()
        before = launcher.lookout
        before.pace = lambda _: Before(self.pace.at_once, self.pace.poll_s)
        began = begin - seconds * self.chance.random()
        self.region.lives[launcher.attempt.training] = (began, began + seconds)
        self.region.now = began
        while self.region.now < begin:
            pause = before.step(launcher.attempt)
            if self.region.now + pause >= begin:
                break
            self.region.now += pause or 0.001
        self.region.now = begin
        before.pace = lambda _: self.pace
        return launcher

    def _play(self, launcher: Launcher) -> float:
        """Let a launcher take its turn. Return the seconds until its next one; 0 if its training has ended."""
        attempt = launcher.attempt
        if attempt.training not in self.region.lives:
            self.region.start(attempt.training, self._seconds())
        pause = launcher.lookout.step(attempt)
        if pause > 0:
            return pause
        outcome = self.runner.poll(attempt)
        ended = outcome is not None and outcome.state.terminal
        if ended or launcher.lookout.reads_logs(attempt):
            list(self.runner.logs(attempt, TEMPLATE, launcher.seen, first_instance=True))
        if not ended:
            return 0.001
        self.late.append(self.region.now - self.region.lives[attempt.training][1])
        launcher.lookout.leave()
        return 0.0

    def _seconds(self) -> float:
        """Return how long a training runs: as long as it takes to fill all slots, more or less."""
        return self.pace.at_once / STARTS_A_SECOND * self.chance.lognormvariate(-0.045, 0.3)

    def _next(self) -> Launcher:
        self._started += 1
        name = f"nightly-{self._started}-1"
        return self._launcher(Attempt(self._started, 1, 0, LANE, name, "", 86_400, self.region.now, 1.0))

    def _launcher(self, attempt: Attempt) -> Launcher:
        return Launcher(attempt, Lookout(self.control, lambda _: self.runner, self.world, lambda _: self.pace))

    @property
    def p95(self) -> float:
        return sorted(self.late)[int(0.95 * len(self.late))]


def measure() -> Iterator[Figure]:
    os.environ.update(AWS_ACCESS_KEY_ID="bench", AWS_SECRET_ACCESS_KEY="bench")
    logging.getLogger("orchestrator").setLevel(logging.WARNING)
    for at_once, budget in BUDGETS.items():
        play = Play(Pace(at_once, 30.0))
        play.run()
        alone = Play(Alone(at_once, 30.0))
        alone.run()
        what = f"{at_once:,} at once:"
        rival = f"each asked after in turn: {number(alone.p95)} s; {len(play.late):,} ends"
        yield Figure(f"{what} 95 of 100 ends are noticed in", play.p95, "s", budget=budget, rival=rival)
        for operation, most in (
            ("DescribeTrainingJob", rates.DESCRIBES),
            ("ListTrainingJobs", LISTS),
            ("DescribeLogStreams", LOG_CALLS),
            ("GetLogEvents", LOG_CALLS),
        ):
            yield Figure(f"{what} {operation} in the busiest minute", play.region.rate(operation), "/s", budget=most)
        yield Figure(f"{what} reads of the board", play.region.rate("GetObject"), "/s")
