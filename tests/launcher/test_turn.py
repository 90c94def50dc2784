"""When a task may begin: after the canaries of its lane, and when the run's limit has room for it."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.control import Control
from orchestrator.aws.turns import Turns
from orchestrator.launcher.drive import Driver
from orchestrator.launcher.task_history import TaskHistory
from orchestrator.wire.beside.markers import Limit
from orchestrator.wire.exits import Exit
from orchestrator.wire.result import Cause, TaskState
from tests.launcher.fakes import DONE, PLACES, RUN, RUNNING, Bench, Bucket, FakeRunner, Life, Time, failed, task

if TYPE_CHECKING:
    from collections.abc import Callable

LANE = PLACES[0].lane
FAILED = failed(Cause.TASK)


class Launchers:
    """The launchers of one run, of which one takes a step at a time; with chance, another in the middle of it."""

    def __init__(self, tasks: int, *, canary: int = 0, looks: Any = (RUNNING, RUNNING, DONE), seed: int = 0) -> None:
        self.random = Random(seed)
        self.control = Bench().control
        self.bucket: Bucket = self.control.s3  # type: ignore[assignment]
        self.turns = Turns(self.control)
        self.time = Time()
        self.platform = FakeRunner(Life(looks=list(looks)))
        for place in PLACES:
            key = self.control.keys.template("fake", place.lane.region)
            template = replace(self.control.template("fake", place.lane.region), canary=canary)
            self.bucket.put_if(key, json.dumps(template.to_json()).encode(), self.bucket.get(key).etag)
        self.left = {number: self.driver(number) for number in range(tasks)}
        self.exits: dict[int, Exit] = {}
        self.most = 0
        """The most trainings that were alive at once."""
        self.created_before: list[str] = []
        """The trainings that were started before any was done."""

    @property
    def any_done(self) -> bool:
        results = (
            stored.body for key, stored in self.bucket.objects.items() if key.startswith(self.control.keys.results)
        )
        return any(json.loads(body)["state"] == "done" for body in results)

    def driver(self, number: int, submission: int = 1) -> Driver:
        control = Control(self.bucket, RUN)  # type: ignore[arg-type]
        wanted = task(number=number, places=(PLACES[number % 2],))
        driver = Driver(TaskHistory(wanted, submission, control), lambda _: self.platform, self.world())
        driver._load()
        return driver

    def world(self) -> Any:
        return self.time.world(uniform=self.random.uniform)

    def step(self, number: int) -> None:
        """Let this launcher take a step. What it leaves behind when it ends is as if `drive` had ended."""
        exit_code = self.left[number]._take_step()
        self.most = max(self.most, len(self.platform.alive))
        if not self.any_done:
            self.created_before = list(self.platform.created)
        if exit_code is not None:
            self.exits[number] = exit_code
            self.left.pop(number).turn.leave(exit_code)

    def run(self, *, at_most: int = 3000, until: Callable[[], bool] = lambda: False) -> None:
        inside: set[int] = set()

        def let_another_in(_: str) -> None:
            others = [number for number in self.left if number not in inside]
            if len(inside) < 3 and others and self.random.random() < 0.1:
                taken(self.random.choice(others))

        def taken(number: int) -> None:
            inside.add(number)
            self.step(number)
            inside.discard(number)

        self.bucket.before = let_another_in
        for _ in range(at_most):
            if not self.left or until():
                break
            taken(self.random.choice(list(self.left)))
        self.bucket.before = lambda _: None


@pytest.mark.parametrize("seed", range(12))
def test_no_more_run_at_once_than_the_limit_says_and_all_come_to_their_end(seed: int) -> None:
    launchers = Launchers(8, seed=seed)
    launchers.turns.set_limit(Limit({"": 3, str(LANE): 2}))
    launchers.run()
    assert launchers.exits == dict.fromkeys(range(8), Exit.DONE)
    assert launchers.most <= 3
    assert launchers.turns.running() == {}


def test_a_limit_of_none_begins_nothing_until_it_is_lifted() -> None:
    launchers = Launchers(4)
    launchers.turns.set_limit(Limit({"": 0}))
    launchers.run(at_most=40)
    assert launchers.platform.created == []
    launchers.turns.set_limit(Limit())
    launchers.run()
    assert sorted(launchers.exits) == [0, 1, 2, 3]


def test_a_limit_of_one_region_does_not_hold_up_others() -> None:
    launchers = Launchers(6)
    launchers.turns.set_limit(Limit({LANE.region: 0}))
    launchers.run(at_most=200)
    assert sorted(launchers.exits) == [1, 3, 5]


def test_what_ran_before_is_counted_first() -> None:
    launchers = Launchers(3)
    launchers.step(0)
    launchers.turns.set_limit(Limit({"": 1}, counted=False, set_at=launchers.time.now))
    launchers.step(1)
    assert launchers.control.recorded() == [(0, 1)]
    launchers.turns.note_running(0, LANE, 1)
    launchers.turns.set_limit(Limit({"": 1}))
    launchers.step(1)
    assert launchers.control.recorded() == [(0, 1)]
    launchers.run()
    assert launchers.most == 1
    assert sorted(launchers.exits) == [0, 1, 2]


def test_a_limit_whose_count_was_never_finished_holds_all_the_same_after_a_while() -> None:
    launchers = Launchers(2)
    launchers.turns.set_limit(Limit({"": 1}, counted=False, set_at=launchers.time.now))
    launchers.run()
    assert sorted(launchers.exits) == [0, 1]


def test_room_that_a_dead_launcher_has_left_is_found() -> None:
    launchers = Launchers(2)
    launchers.turns.set_limit(Limit({"": 1}))
    launchers.run(until=lambda: 0 in launchers.exits)
    launchers.turns.note_running(0, LANE, 1)  # as if its launcher had been killed before it could say that it has ended
    launchers.run()
    assert sorted(launchers.exits) == [0, 1]


def test_a_launcher_that_waits_for_its_turn_goes_when_the_run_is_cancelled() -> None:
    launchers = Launchers(2)
    launchers.turns.set_limit(Limit({"": 0}))
    launchers.run(at_most=10)
    launchers.control.cancel(1)
    launchers.run()
    assert set(launchers.exits.values()) == {Exit.CANCELLED}
    assert launchers.platform.created == []


def test_a_limit_that_cannot_be_understood_holds_nothing_up() -> None:
    launchers = Launchers(2)
    launchers.bucket.put_once(launchers.control.keys.limit, b'{"slots": {"": "many"}}')
    launchers.run()
    assert set(launchers.exits.values()) == {Exit.DONE}


@pytest.mark.parametrize("seed", range(8))
def test_one_task_of_each_lane_goes_ahead_and_the_others_follow_when_it_is_done(seed: int) -> None:
    launchers = Launchers(8, canary=1, seed=seed)
    launchers.run()
    ahead = [name.partition(" in ")[2] for name in launchers.created_before]
    assert ahead
    assert len(set(ahead)) == len(ahead)  # one of each lane
    assert launchers.exits == dict.fromkeys(range(8), Exit.DONE)


def test_several_may_go_ahead() -> None:
    launchers = Launchers(10, canary=2, looks=[RUNNING] * 9 + [DONE])
    launchers.run()
    assert len(launchers.created_before) == 4  # of 2 lanes
    assert len(launchers.exits) == 10


def test_a_task_that_went_ahead_and_failed_pauses_the_run() -> None:
    launchers = Launchers(6, canary=1, looks=[RUNNING, FAILED])
    launchers.run()
    assert len(launchers.platform.created) <= 2  # one of each lane
    (reason,) = launchers.control.pause_marker().reasons.values()
    assert reason.startswith("paused: task ")
    assert "went ahead of fake/" in reason
    assert sorted(launchers.exits.values())[-4:] == [Exit.CANCELLED] * 4


def test_no_other_goes_ahead_of_a_lane_where_one_has_failed_though_its_launcher_was_killed_before_it_paused() -> None:
    launchers = Launchers(6, canary=1, looks=[RUNNING, FAILED])
    dead = launchers.left.pop(0)
    dead.pause.note_end = lambda _: None  # type: ignore[method-assign]
    while dead._take_step() is None:
        pass
    assert launchers.control.pause_marker().reasons == {}
    created = list(launchers.platform.created)
    launchers.left = {number: launchers.left[number] for number in (2, 4)}  # of the same lane
    launchers.run()
    assert launchers.platform.created == created
    assert launchers.exits == dict.fromkeys((2, 4), Exit.CANCELLED)
    assert "task 0 went ahead" in launchers.control.pause_marker().reasons[1]


def test_one_that_ended_without_its_own_fault_lets_another_go_ahead() -> None:
    launchers = Launchers(4, canary=1, looks=[failed(Cause.STOPPED)])
    first = launchers.driver(0)
    first.turn.has_come(first._decide())  # type: ignore[arg-type]
    first.history.publish(TaskState.CANCELLED, "stopped by hand")
    launchers.platform.lives = []
    launchers.left.pop(0)
    launchers.run()
    assert launchers.exits == dict.fromkeys([1, 2, 3], Exit.DONE)
    assert launchers.control.pause_marker().reasons == {}


def test_one_whose_launcher_is_lost_holds_the_others_up_no_longer_than_it_may_run() -> None:
    launchers = Launchers(4, canary=1)
    lost = launchers.left.pop(0)
    lost.turn.has_come(lost._decide())  # type: ignore[arg-type]
    launchers.run()
    assert sorted(launchers.exits) == [1, 2, 3]
    assert launchers.time.now >= 1_000_000 + 3600


def test_a_retry_follows_what_was_done_and_sends_another_ahead_of_what_has_failed() -> None:
    launchers = Launchers(6, canary=1, looks=[RUNNING, FAILED])
    launchers.run()
    created = len(launchers.platform.created)
    launchers.platform.lives = [Life(looks=[RUNNING, RUNNING, DONE])]
    launchers.exits = {}
    launchers.left = {number: launchers.driver(number, submission=2) for number in range(2, 6)}
    launchers.run()
    assert len(launchers.created_before) - created <= 2
    assert launchers.exits == dict.fromkeys(range(2, 6), Exit.DONE)


@pytest.mark.parametrize("seed", range(4))
def test_a_retry_of_what_was_not_mended_sends_one_ahead_of_each_lane_again(seed: int) -> None:
    launchers = Launchers(10, canary=1, looks=[RUNNING, FAILED], seed=seed)
    launchers.run()
    created = len(launchers.platform.created)
    launchers.left = {number: launchers.driver(number, submission=2) for number in range(10)}
    launchers.run()
    assert 1 <= len(launchers.platform.created) - created <= 2
    assert set(launchers.control.pause_marker().reasons) == {1, 2}


def test_of_several_only_those_are_sent_ahead_again_that_a_cancel_has_ended() -> None:
    launchers = Launchers(8, canary=2)
    done, stopped = launchers.left[0], launchers.left[2]  # of one lane, as 4 and 6 are
    while done._take_step() is None:
        pass
    stopped.turn.has_come(stopped._decide())  # type: ignore[arg-type]
    for number in (2, 4, 6):
        launchers.left[number].history.publish(TaskState.CANCELLED, "cancelled")
    created = len(launchers.platform.created)
    launchers.left = {number: launchers.driver(number, submission=2) for number in (2, 4, 6)}
    launchers.run(until=lambda: bool(launchers.exits))
    assert len(launchers.platform.created) - created == 1
    launchers.run()
    assert launchers.exits == dict.fromkeys((2, 4, 6), Exit.DONE)


def test_nobody_waits_for_one_that_an_earlier_submission_sent_ahead_and_whose_end_was_never_written_down() -> None:
    launchers = Launchers(4, canary=1)
    first = launchers.left[0]
    first.turn.has_come(first._decide())  # type: ignore[arg-type]
    launchers.left = {number: launchers.driver(number, submission=2) for number in (0, 2)}
    launchers.run()
    assert launchers.exits == dict.fromkeys((0, 2), Exit.DONE)
    assert launchers.time.now < 1_000_000 + 3600
