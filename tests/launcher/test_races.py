"""Launchers of one task, interleaved at every call they make, killed anywhere, with answers that get lost.

Each launcher runs in a thread of its own and stops before every call to S3, to the platform and to its sleep; a
schedule that Hypothesis draws says whose call comes next, who is killed and restarted, and whose answer is lost. What
must hold in all of them: never two trainings alive, never two trainings of one number, and always an end.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.aws.control import Control
from orchestrator.errors import QuotaExceeded, Throttled, Unreachable
from orchestrator.launcher.decide import exit_of
from orchestrator.launcher.drive import Driver
from orchestrator.launcher.task_history import TaskHistory
from orchestrator.launcher.world import World
from orchestrator.wire.exits import Exit
from orchestrator.wire.result import Cause, TaskState
from orchestrator.wire.task import Limits
from tests.fixtures.examples import examples
from tests.launcher.fakes import DONE, RUN, RUNNING, Bench, Life, copy_in_memory, failed

if TYPE_CHECKING:
    from collections.abc import Callable


class Killed(BaseException):
    """A launcher's end by SIGKILL: nothing catches it."""


@dataclass(frozen=True)
class Turn:
    """The launcher whose call comes next, and what befalls the call."""

    who: int
    fate: str = "goes"


FATES = ["goes"] * 12 + ["killed", "lost", "refused"]
turns = st.builds(Turn, st.integers(0, 2), st.sampled_from(FATES))
looks = st.lists(st.just(RUNNING), max_size=2)
endings = st.sampled_from([DONE, failed(Cause.TASK), failed(Cause.CAPACITY), failed(Cause.INTERRUPTED)])
refusals = st.lists(st.sampled_from([QuotaExceeded("quota"), Throttled("rate")]), max_size=1)
lives = st.lists(st.builds(lambda r, running, end: Life(r, [*running, end]), refusals, looks, endings), max_size=5)


@dataclass
class Launcher:
    """A thread that waits for its turn before every call."""

    number: int
    bench: Bench
    go: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    stopped: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    fate: str = "goes"
    exit: Exit | None = None
    thread: threading.Thread | None = None
    fault: BaseException | None = None

    def begin(self) -> None:
        self.fate = "goes"
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()
        self.stopped.acquire()

    def step(self, fate: str) -> None:
        """Let it make its next call, with this fate. Return when it stands before the one after."""
        self.fate = fate
        self.go.release()
        self.stopped.acquire()
        if self.fate == "dead":
            self.begin()

    def _run(self) -> None:
        world = World(lambda: self.bench.time.now, self._sleep, lambda: False, lambda _, high: high)
        control = Control(Spied(self.bench.control.s3, self.call), RUN)  # type: ignore[arg-type]
        history = TaskHistory(self.bench.task, self.bench.submission, control)
        try:
            self._wait()
            driver = Driver(history, lambda _: Spied(self.bench.platform, self.call), world)  # type: ignore[arg-type,return-value]
            driver.moves.copy_object = lambda *copy: self.call(lambda: copy_in_memory(*copy))  # type: ignore[assignment]
            self.exit = driver.drive()
        except Killed:
            self.fate = "dead"
        except BaseException as fault:  # noqa: BLE001  shown by the test's own thread
            self.fault = fault
        self.stopped.release()

    def call(self, effect: Callable[[], Any]) -> Any:
        self._wait()
        if self.fate == "refused":
            raise Unreachable("the request got lost")
        answer = effect()
        if self.fate == "lost":
            raise Unreachable("the answer got lost")
        return answer

    def _wait(self) -> None:
        self.stopped.release()
        self.go.acquire()
        if self.fate == "killed":
            raise Killed

    def _sleep(self, seconds: float) -> None:
        self._wait()
        self.bench.time.now += seconds


class Spied:
    """An object whose every call waits for its launcher's turn."""

    def __init__(self, real: Any, call: Callable[[Callable[[], Any]], Any]) -> None:
        self._real = real
        self._call = call

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._real, name)
        if name in {"request", "uri", "name"}:
            return attribute
        if name in {"list", "logs"}:
            return lambda *arguments, **more: self._call(lambda: list(attribute(*arguments, **more)))
        return lambda *arguments: self._call(lambda: attribute(*arguments))


def run(bench: Bench, launchers: int, schedule: list[Turn]) -> list[Launcher]:
    """Let so many launchers play the schedule; after it, everybody in turn, until all have ended."""
    made = [Launcher(n, bench) for n in range(launchers)]
    play(bench, made, schedule)
    return made


def play(bench: Bench, made: list[Launcher], schedule: list[Turn], *, everybody_ends: bool = True) -> None:
    """Play the schedule; after it, unless it is only a beginning, everybody in turn, until all have ended."""
    for launcher in made:
        if launcher.thread is None:
            launcher.begin()
    fair = (Turn(n) for _ in range(2_000 if everybody_ends else 0) for n in range(len(made)))
    for turn in [*schedule, *fair]:
        waiting = [one for one in made if one.exit is None and one.fault is None]
        if not waiting:
            break
        waiting[turn.who % len(waiting)].step(turn.fate)
        assert len(bench.platform.alive) <= 1, bench.platform.alive
    for launcher in made:
        assert launcher.fault is None, launcher.fault
        assert launcher.exit is not None or not everybody_ends, "it never ended"


@settings(max_examples=examples(150))
@given(st.integers(1, 3), lives, st.lists(turns, max_size=80), st.integers(0, 2), st.sampled_from([0, 100, 10_000]))
def test_launchers_racing_on_one_task_never_have_two_trainings_alive_and_always_end(
    launchers: int, lives: list[Life], schedule: list[Turn], retries: int, patience: int
) -> None:
    bench = Bench(*lives, limits=Limits(3600, retries=retries, patience_s=patience))
    exits = {launcher.exit for launcher in run(bench, launchers, schedule)}
    names = [created.split()[0] for created in bench.platform.created]
    assert len(names) == len(set(names)), "one number was started in two places"
    assert bench.result.state.terminal
    # One may lose patience a moment before another tries once more: then the newest attempt has the last word.
    assert exit_of(bench.result) in exits
    assert Exit.DONE not in exits or bench.result.state is TaskState.DONE
    recorded = [one.number for one in bench.control.attempts(7)]
    assert recorded == list(range(1, len(recorded) + 1))


@settings(max_examples=examples(60))
@given(st.integers(1, 3), st.lists(turns, max_size=60), st.integers(0, 60))
def test_a_cancel_at_any_moment_leaves_nothing_alive(launchers: int, schedule: list[Turn], moment: int) -> None:
    bench = Bench(Life(looks=[RUNNING]), Life(looks=[RUNNING]))
    calls = iter(range(10_000))

    def maybe_cancel(_: str) -> None:
        if next(calls) == moment:
            bench.platform.before = lambda _: None
            bench.control.cancel(through=1)

    bench.platform.before = maybe_cancel
    made = [*schedule, *[Turn(n % 3) for n in range(400)]]
    exits = {launcher.exit for launcher in run(bench, launchers, made)}
    assert exits == {Exit.CANCELLED}
    assert bench.platform.alive == []


def test_schedules_do_make_two_launchers_start_the_same_training() -> None:
    benches = [Bench() for _ in range(10)]
    for head_start, bench in enumerate(benches):
        run(bench, 2, [Turn(0)] * head_start + [Turn(1)] * 20)
    assert any(bench.platform.start_calls == ["nightly-7-1"] * 2 for bench in benches)
    assert all(bench.platform.created == ["nightly-7-1 in us-west-2"] for bench in benches)
