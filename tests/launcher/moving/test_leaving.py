"""A training on spot that has lost its machines, or gets none, is left for a better place: never two at a time."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.launcher.decide import Start, decide
from orchestrator.launcher.keep_deadline import Lost, choose_to_leave
from orchestrator.launcher.moving import leaving
from orchestrator.launcher.moving.saved import Ahead, Saved
from orchestrator.launcher.spot_policy import Chance, Situation, choose
from orchestrator.launcher.tried import Tried
from orchestrator.wire.beside.moves import Move
from orchestrator.wire.exits import Exit
from orchestrator.wire.result import Attempt, Cause, Outcome, TaskState
from orchestrator.wire.task import Expected, Lane, Limits, Place, Purchase
from tests.fixtures.examples import examples
from tests.launcher.fakes import DONE, REGIONS, RUNNING, STOPPED, Life, task
from tests.launcher.moving.test_moves import MovingBench
from tests.launcher.test_races import Launcher, Turn, play, turns

if TYPE_CHECKING:
    from orchestrator.wire.task import Task

HOUR = 3600.0
NOW = 1_000_000.0
WAITING = (TaskState.STARTING, Cause.NONE)


def place(purchase: Purchase, region: str = REGIONS[0], usd: float = 1.0) -> Place:
    lane = Lane("fake", region, "ml.g5.xlarge", purchase)
    return Place(lane, f"s3://data-{region}/", rate=3.0, expected=Expected(10.0, usd), leave_usd_per_gb=0.02)


SPOT, AWAY = place(Purchase.SPOT), place(Purchase.SPOT, REGIONS[1], usd=1.1)
ON_DEMAND = place(Purchase.ON_DEMAND, usd=3.0)
PLACES = (SPOT, AWAY, ON_DEMAND)
LIMITS = Limits(60 * 3600, max_wait_s=61 * 3600, saved_every_s=600, patience_s=1800, end_by=NOW + 16 * HOUR)


class WeighingBench(MovingBench):
    """A task that has a deadline, and saves checkpoints that take no time."""

    def __init__(self, *lives: Life, **changes: Any) -> None:
        super().__init__(*lives, **{"places": PLACES, "limits": LIMITS, **changes})


def waits(hours: float) -> Life:
    """A training that waits for machines, for as many looks as make up so many hours."""
    return Life(looks=[WAITING] * max(int(hours * HOUR / 30), 1) + [DONE])


def test_a_training_that_gets_no_machines_is_left_for_another_region() -> None:
    bench = WeighingBench(waits(40))
    bench.platform.hours = 0.0
    assert bench.launch() is Exit.DONE
    assert bench.attempts == [f"1 in {REGIONS[0]}", f"2 in {REGIONS[1]}"]
    (move,) = bench.moves
    assert (move.number, move.lane, move.why) == (1, AWAY.lane, f"no machines in {REGIONS[0]} for 30 minutes")
    first = bench.result.outcomes[0]
    assert (first.state, first.cause, first.reason) == (TaskState.FAILED, Cause.CAPACITY, f"moved: {move.why}")
    assert bench.went_on_from == [None, 10]


def test_a_training_whose_machines_are_taken_away_and_do_not_come_back_is_left() -> None:
    bench = WeighingBench(Life(looks=[RUNNING] * 4000 + [DONE]))
    poll, lost_at = bench.platform.poll, NOW + HOUR

    def poll_what_was_lost(attempt: Attempt) -> Outcome | None:
        outcome = poll(attempt)
        if outcome is None or attempt.number > 1 or outcome.state.terminal or bench.time.now < lost_at:
            return outcome
        return replace(outcome, interruptions=1, lost_at=lost_at, started_at=NOW + 60)

    bench.platform.poll = poll_what_was_lost  # type: ignore[method-assign]
    assert bench.launch() is Exit.DONE
    assert bench.attempts == [f"1 in {REGIONS[0]}", f"2 in {REGIONS[1]}"]
    (move,) = bench.moves
    assert move.why == f"no machines in {REGIONS[0]} for 30 minutes"
    assert move.decided_at - lost_at < 2 * 1800
    assert bench.went_on_from == [None, 10]


def test_the_move_is_written_down_before_the_training_is_stopped() -> None:
    bench, there = WeighingBench(waits(40)), []
    bench.platform.before = lambda what: there.append(len(bench.moves)) if what == "stop" else None
    bench.launch()
    assert there[0] == 1


def test_a_short_wait_is_waited_for() -> None:
    bench = WeighingBench(waits(0.4))
    assert bench.launch() is Exit.DONE
    assert (bench.attempts, bench.moves) == ([f"1 in {REGIONS[0]}"], [])


def test_without_a_deadline_nothing_is_left() -> None:
    bench = WeighingBench(waits(3), limits=replace(LIMITS, end_by=None))
    assert bench.launch() is Exit.DONE
    assert (bench.attempts, bench.moves) == ([f"1 in {REGIONS[0]}"], [])


def test_what_was_done_before_it_could_be_stopped_is_done() -> None:
    bench = WeighingBench(waits(40))
    stop = bench.platform.stop

    def stop_too_late(attempt: Attempt) -> None:
        bench.platform.trainings[attempt.lane.region, attempt.training].looks = [RUNNING, DONE]
        stop(replace(attempt, training="another"))

    bench.platform.stop = stop_too_late  # type: ignore[method-assign]
    assert bench.launch() is Exit.DONE
    assert bench.attempts == [f"1 in {REGIONS[0]}"]


def test_what_another_launcher_has_moved_and_stopped_is_no_cancel() -> None:
    bench = WeighingBench(Life(looks=[RUNNING, RUNNING, STOPPED]))
    move = Move(7, 1, AWAY.lane, AWAY.site, AWAY.instances, NOW, why="no machines")
    bench.time.on_sleep = lambda: bench.bucket.put_once(bench.control.keys.moved(7, 1), as_json(move))  # type: ignore[assignment,return-value]
    assert bench.launch() is Exit.DONE
    assert bench.attempts == [f"1 in {REGIONS[0]}", f"2 in {REGIONS[1]}"]
    assert bench.result.outcomes[0].state is TaskState.FAILED


def as_json(move: Move) -> bytes:
    return json.dumps(move.to_json()).encode()


def test_a_move_to_spot_for_which_it_has_become_too_late_ends_on_demand() -> None:
    stopped = Outcome(1, SPOT.lane, "t", TaskState.FAILED, Cause.INTERRUPTED, seconds=HOUR, ended_at=NOW)
    for hours, where in ((16.0, 1), (8.5, 2)):
        tight = a_task(end_by=NOW + hours * HOUR)
        step = decide(tight, [Tried(attempt(), stopped)], 0.0, NOW, Ahead(moves_to=1))
        assert isinstance(step, Start)
        assert step.place == where


def test_a_cancel_is_no_move() -> None:
    bench = WeighingBench(waits(40))
    bench.platform.before = lambda what: bench.control.cancel(through=1) if what == "stop" else None
    assert bench.launch() is Exit.CANCELLED
    assert bench.attempts == [f"1 in {REGIONS[0]}"]


def test_dollars_that_do_not_pay_for_the_rest_keep_it_where_it_is() -> None:
    assert leaves(Lost(attempt(), waiting(), waits=True)) == 1
    assert leaves(Lost(attempt(), waiting(), waits=True, usd_left=40.0)) == 1
    assert leaves(Lost(attempt(), waiting(), waits=True, usd_left=20.0)) is None


def attempt(at: int = 0) -> Attempt:
    return Attempt(7, 1, at, PLACES[at].lane, "t", "hash", 3600, NOW - HOUR, 3.0)


def waiting() -> Outcome:
    return Outcome(1, SPOT.lane, "t", TaskState.STARTING)


def a_task(**changes: Any) -> Task:
    return task(places=PLACES, limits=replace(LIMITS, **changes))


def leaves(lost: Lost, saved: Saved | None = None, **changes: Any) -> int | None:
    return choose_to_leave(a_task(**changes), [], lost, NOW, saved)


def test_a_checkpoint_that_is_dear_to_bring_is_waited_with() -> None:
    ran = replace(waiting(), seconds=2 * HOUR, interruptions=1, started_at=NOW - 3 * HOUR)
    lost = Lost(replace(attempt(), recorded_at=NOW - 3 * HOUR), ran, waits=True)
    end_by = NOW + 10 * HOUR
    assert leaves(lost, Saved(REGIONS[0], gb=10.0, usd_per_gb=0.02), end_by=end_by) == 1
    assert leaves(lost, Saved(REGIONS[0], gb=2000.0, usd_per_gb=0.02), end_by=end_by) != 1


def test_on_demand_it_is_when_no_spot_is_in_time() -> None:
    lost = Lost(attempt(), waiting(), waits=True)
    assert leaves(lost, end_by=NOW + 10.3 * HOUR) == 2
    assert choose_to_leave(task(places=PLACES, limits=LIMITS), [], Lost(attempt(2), waiting(), waits=True), NOW) is None


chances = st.builds(
    Chance,
    st.floats(0.2, 5),
    hours=st.floats(0.5, 20),
    start_hours=st.floats(0.05, 1),
    start_usd=st.sampled_from([0.0, 0.5, 10.0]),
    spot=st.booleans(),
    is_open=st.booleans(),
    open_hours=st.floats(0, 20),
    share=st.floats(0.05, 1),
    group=st.sampled_from(["a", "b"]),
)


@settings(max_examples=300)
@given(st.lists(chances, min_size=1, max_size=5), st.floats(0.1, 40), st.data())
def test_a_place_is_not_chosen_for_being_dearer_to_come_to(
    known: list[Chance], left: float, data: st.DataObject
) -> None:
    at = data.draw(st.sampled_from([None, *(n for n, one in enumerate(known) if one.is_open)]))
    now = Situation(left, at=at, look=0.25, at_risk=0.1)
    chosen = choose(known, now)
    assert chosen is None or known[chosen].is_open or not known[chosen].spot
    number = data.draw(st.integers(0, len(known) - 1))
    dearer = list(known)
    dearer[number] = replace(known[number], start_usd=known[number].start_usd + data.draw(st.floats(0.1, 50)))
    if chosen != number and number != at:
        assert choose(dearer, now) != number


@settings(max_examples=300)
@given(st.lists(chances, min_size=1, max_size=4), st.floats(0.1, 40))
def test_who_must_go_on_demand_now_does(known: list[Chance], left: float) -> None:
    safe = Chance(1.0, hours=5.0, start_hours=0.2, spot=False)
    slack = left - 5.0
    chosen = choose([*(replace(one, spot=True) for one in known), safe], Situation(left, look=0.25))
    assert slack >= safe.start_hours or chosen == len(known)


lives = st.lists(st.sampled_from([waits(1.0), waits(8.0), Life(looks=[RUNNING, DONE])]), max_size=3)


@settings(max_examples=examples(120), deadline=None)
@given(lives, st.integers(1, 2), st.lists(turns, max_size=150))
def test_launchers_killed_anywhere_leave_for_one_place_and_are_done_once(
    made: list[Life], launchers: int, schedule: list[Turn]
) -> None:
    bench = WeighingBench(*(Life(looks=list(life.looks)) for life in made))
    everybody = [Launcher(n, bench) for n in range(launchers)]
    play(bench, everybody, schedule)
    assert bench.result.state is TaskState.DONE
    done = [name for name, training in bench.platform.trainings.items() if training.looks[0] == DONE]
    assert len(done) == 1
    attempts = bench.control.attempts(7)
    for move in bench.moves:
        after = [one.lane for one in attempts if one.number == move.number + 1]
        assert after in ([], [move.lane])


def test_what_a_training_has_run_and_is_not_billed_for_yet_pays_for_no_move(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = WeighingBench(Life(looks=[RUNNING, RUNNING, DONE]), limits=replace(LIMITS, envelope=100.0))
    poll, asked = bench.platform.poll, []

    def poll_what_was_lost(attempt: Attempt) -> Outcome | None:
        outcome = poll(attempt)
        if outcome is None or outcome.state.terminal:
            return outcome
        return replace(outcome, interruptions=1, lost_at=NOW, started_at=NOW, seconds=2 * HOUR, usd=0.0)

    bench.platform.poll = poll_what_was_lost  # type: ignore[method-assign]
    monkeypatch.setattr(leaving, "choose_to_leave", lambda _task, _tried, lost, *_: asked.append(lost.usd_left))
    assert bench.launch() is Exit.DONE
    assert asked == [pytest.approx(100.0 - 2 * bench.task.places[0].hourly_usd)]
