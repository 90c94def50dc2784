"""A task with a deadline and checkpoints: where it is started next, for how long, and that it ends in time."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.launcher.decide import End, Start, decide
from orchestrator.launcher.moving.saved import Ahead, Saved
from orchestrator.launcher.tried import Tried
from orchestrator.wire.exits import Exit
from orchestrator.wire.result import Attempt, Cause, Outcome, TaskState
from orchestrator.wire.task import Expected, Lane, Limits, Place, Purchase
from tests.launcher.fakes import Bench, FakeRunner, task

if TYPE_CHECKING:
    from orchestrator.launcher.decide import Start as AnyStart

HOUR = 3600
NOW = 1_000_000.0


def place(purchase: Purchase, region: str = "us-west-2", usd: float = 1.0, hours: float = 10.0) -> Place:
    lane = Lane("fake", region, "ml.g5.xlarge", purchase)
    rate = 0.05 if purchase is Purchase.SPOT else 0.0
    return Place(lane, f"s3://data-{region}/", rate=3.0, expected=Expected(hours, usd, rate))


SPOT, ON_DEMAND = place(Purchase.SPOT), place(Purchase.ON_DEMAND, usd=3.0)
AWAY = place(Purchase.SPOT, "eu-west-1", usd=1.01)
LIMITS = Limits(40 * HOUR, max_wait_s=41 * HOUR, saved_every_s=600, end_by=NOW + 15 * HOUR)


def tried(cause: Cause, at: Place, *, hours: float = 0.0, waited: float = 0.0, wait_s: int = 0) -> Tried:
    places = (SPOT, AWAY, ON_DEMAND)
    attempt = Attempt(7, 1, places.index(at), at.lane, "t", "hash", 3600, NOW - (hours + waited) * HOUR, 3.0)
    attempt = replace(attempt, max_wait_s=wait_s)
    return Tried(attempt, Outcome(1, at.lane, "t", TaskState.FAILED, cause, "so", seconds=hours * HOUR, ended_at=NOW))


def after(*before: Tried, spent: float = 0.0, **changes: Any) -> AnyStart | End:
    return decide(task(places=(SPOT, AWAY, ON_DEMAND), limits=replace(LIMITS, **changes)), before, spent, NOW)


def test_spot_is_started_for_as_long_as_the_work_would_still_fit_on_demand() -> None:
    step = after()
    assert isinstance(step, Start)
    assert (step.place, step.max_runtime_s, step.max_wait_s) == (0, int(4.9 * HOUR), int(4.9 * HOUR))


def test_a_task_without_deadline_checkpoints_or_expectations_goes_to_its_first_place_for_all_its_time() -> None:
    for changes in ({"end_by": None}, {"saved_every_s": 0}):
        assert after(**changes) == Start(0, 40 * HOUR)  # type: ignore[arg-type]
    silent = (SPOT, replace(ON_DEMAND, expected=None))
    assert decide(task(places=silent, limits=LIMITS), [], 0.0, NOW) == Start(0, 40 * HOUR)


def test_a_place_to_which_the_checkpoint_cannot_be_brought_is_passed_over() -> None:
    lost, cheap = tried(Cause.INTERRUPTED, SPOT, hours=1.0), replace(AWAY, expected=Expected(10.0, 0.5))
    places, saved = (SPOT, cheap, ON_DEMAND), Saved("us-west-2", gb=1.0, usd_per_gb=0.02)
    open_to_all = decide(task(places=places, limits=LIMITS), [lost], 0.0, NOW, Ahead(saved))
    assert isinstance(open_to_all, Start)
    assert open_to_all.place == 1
    for hours, taken in ((9.5, 2), (15.0, 0)):
        limits = replace(LIMITS, end_by=NOW + hours * HOUR)
        ahead = Ahead(saved, closed=frozenset({"eu-west-1"}))
        step = decide(task(places=places, limits=limits), [lost], 0.0, NOW, ahead)
        assert isinstance(step, Start)
        assert step.place == taken


def test_what_was_saved_is_no_longer_left_where_it_was_saved() -> None:
    step = after(tried(Cause.TIMEOUT, SPOT, hours=5.0, wait_s=5 * HOUR), end_by=NOW + 10 * HOUR)
    assert isinstance(step, Start)
    # 5 h less the ten minutes since the last checkpoint and the six minutes of the start.
    assert (step.place, step.max_wait_s) == (0, pytest.approx((10 - 5.267 - 0.1) * HOUR, abs=5))


def test_on_demand_comes_when_nothing_else_is_in_time() -> None:
    assert after(end_by=NOW + 10.3 * HOUR) == Start(2, 40 * HOUR)
    step = after(
        tried(Cause.CAPACITY, SPOT, waited=2.0), tried(Cause.CAPACITY, AWAY, waited=2.0), end_by=NOW + 10.3 * HOUR
    )
    assert isinstance(step, Start)
    assert (step.place, step.max_wait_s) == (2, 0)


def test_after_a_refusal_another_region_is_tried_while_nothing_is_lost_by_it() -> None:
    step = after(tried(Cause.CAPACITY, SPOT, waited=0.1))
    assert isinstance(step, Start)
    assert step.place == 1


def test_places_that_refuse_in_turn_are_each_asked_less_and_less_often() -> None:
    here, there = tried(Cause.CAPACITY, SPOT, waited=0.1), tried(Cause.CAPACITY, AWAY, waited=0.1)
    waits = []
    for before in ([here], [here, there], [here, there, here], [here, there, here, there, here, there]):
        chosen = after(*before, patience_s=0.0)  # what has refused is open again at once
        assert isinstance(chosen, Start)
        waits.append((chosen.refusals, sum(one.attempt.place == chosen.place for one in before)))
    assert [refusals for refusals, asked in waits] == [asked for _, asked in waits]
    assert waits[-1][0] == 3
    ran = after(here, there, tried(Cause.INTERRUPTED, SPOT, hours=1.0))
    assert isinstance(ran, Start)
    assert ran.refusals == 0


def test_a_place_that_gave_machines_for_most_of_its_stretch_is_not_taken_for_closed() -> None:
    ran = tried(Cause.CAPACITY, SPOT, hours=4.0, waited=0.9, wait_s=5 * HOUR)
    step = after(ran, end_by=NOW + 12 * HOUR)
    assert isinstance(step, Start)
    assert step.place == 0


def test_all_stretches_together_are_no_longer_than_the_time_of_one_training() -> None:
    step = after(tried(Cause.TIMEOUT, SPOT, hours=5.0, wait_s=5 * HOUR), max_runtime_s=6 * HOUR)
    assert isinstance(step, Start)
    assert step.max_runtime_s == HOUR
    assert after(tried(Cause.TIMEOUT, SPOT, hours=6.0, wait_s=6 * HOUR), max_runtime_s=6 * HOUR) == End(
        TaskState.FAILED, Exit.TASK_WRONG, "so"
    )
    assert isinstance(after(tried(Cause.TIMEOUT, ON_DEMAND, hours=5.0)), End)


def test_the_envelope_bounds_a_stretch() -> None:
    step = after(spent=4.0, envelope=10.0)
    assert isinstance(step, Start)
    assert step.max_runtime_s == 2 * HOUR - 180
    assert isinstance(after(spent=10.0, envelope=10.0), End)


class Reclaimed(FakeRunner):
    """Spot as it comes: every stretch runs for a part of its time, waits for the rest, and is then ended.

    It saves every ten minutes. On demand runs until the work is done.
    """

    def __init__(self, bench: Bench, seed: int, hours: float) -> None:
        super().__init__()
        self.bench = bench
        self.random = Random(seed)
        self.left = hours
        self.ends: dict[str, tuple[float, float, bool]] = {}

    def start(self, request: Any) -> None:
        if request.training in self.ends:
            return
        attempt = self.bench.control.attempts(self.bench.task.number)[-1]
        now, hours = self.bench.time.now, attempt.max_runtime_s / HOUR
        if attempt.lane.purchase is Purchase.ON_DEMAND:
            ran, done = self.left, True
        else:
            ran = min(hours * self.random.choice([0.0, 0.2, 0.9, 1.0]), self.left)
            done = ran == self.left
            self.left -= 0.0 if done else max(ran - 10 / 60 - 0.1, 0.0)
        waits = 0.1 if done else hours - ran
        self.ends[request.training] = (now + (ran + waits) * HOUR, ran, done)

    def poll(self, attempt: Attempt) -> Outcome | None:
        if attempt.training not in self.ends:
            return None
        ends, ran, done = self.ends[attempt.training]
        outcome = Outcome(attempt.number, attempt.lane, attempt.training, TaskState.RUNNING)
        if self.bench.time.now < ends:
            return outcome
        cause = Cause.TIMEOUT if ran * HOUR >= attempt.max_runtime_s - 1 else Cause.CAPACITY
        usd = ran * (3.0 if attempt.lane.purchase is Purchase.ON_DEMAND else 1.0)
        outcome = replace(outcome, seconds=ran * HOUR, usd=usd, reason="ended", ended_at=ends)
        if done:
            return replace(outcome, state=TaskState.DONE)
        return replace(outcome, state=TaskState.FAILED, cause=cause)


@pytest.mark.parametrize("seed", range(20))
def test_a_launcher_keeps_the_deadline_however_spot_comes_and_goes(seed: int) -> None:
    end_by = NOW + 13 * HOUR
    bench = Bench(places=(SPOT, AWAY, ON_DEMAND), limits=replace(LIMITS, end_by=end_by))
    bench.platform = Reclaimed(bench, seed, hours=9.5)
    assert bench.launch() is Exit.DONE
    last = bench.result.outcomes[-1]
    assert last.ended_at is not None
    assert last.ended_at <= end_by
    recorded = bench.control.attempts(bench.task.number)
    assert all(bench.driver().trainings.recorded_request(one).hash == one.request_hash for one in recorded)
