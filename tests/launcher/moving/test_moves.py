"""A task goes on in another Region with its checkpoint: brought once, paid once, whole before anything starts."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.errors import AccessDenied, AlreadyExists, Throttled
from orchestrator.launcher.moving import moves
from orchestrator.launcher.moving.closing import close_move
from orchestrator.wire.beside.moves import Move
from orchestrator.wire.exits import Exit
from orchestrator.wire.result import Cause, TaskState
from orchestrator.wire.task import Limits
from tests.fixtures.examples import examples
from tests.launcher.fakes import DONE, PLACES, REGIONS, RUNNING, Bench, Bucket, Life, copy_in_memory, failed
from tests.launcher.test_races import Killed, Launcher, Turn, play, turns

if TYPE_CHECKING:
    from orchestrator.aws.copies import Target

FIRST, SECOND, THIRD = REGIONS
IMPATIENT = Limits(3600, patience_s=0)
LOST = Life(looks=[RUNNING, failed(Cause.CAPACITY)])
GB = 10**9
SIZE = 5 + len(json.dumps({"step": 10, "files": {"state": [5, "sum"]}}))
"""Bytes of a checkpoint after ten steps."""


class MovingBench(Bench):
    """A task whose trainings keep checkpoints: each writes a slot when it is started, and goes on from what is there.

    The bucket of a Region is called out-<Region>.
    """

    def __init__(self, *lives: Life, **changes: Any) -> None:
        super().__init__(*lives, **{"limits": IMPATIENT, **changes})
        for region in REGIONS:
            key = self.control.keys.template("fake", region)
            template = replace(self.control.template("fake", region), checkpoints=True, output=f"s3://out-{region}/x")
            self.bucket.put_if(key, json.dumps(template.to_json()).encode(), self.bucket.get(key).etag)
        self.went_on_from: list[int | None] = []
        """The step after which each training went on, as it was started."""
        start = self.platform.start

        def start_and_save(request: Any) -> None:
            known = len(self.platform.created)
            start(request)
            if len(self.platform.created) > known:
                region = request.lane.region
                self.went_on_from.append(self.step_in(region))
                self.save(region, (self.step_in(region) or 0) + 10)

        self.platform.start = start_and_save  # type: ignore[method-assign]

    @property
    def bucket(self) -> Bucket:
        return self.control.s3  # type: ignore[return-value]

    def there(self, region: str) -> Bucket:
        made = self.bucket.elsewhere(region, f"out-{region}")
        made.clock = lambda: self.time.now
        return made

    def save(self, region: str, step: int) -> None:
        label = {"step": step, "files": {"state": [5, "sum"]}}
        for name, body in (("state", b"%05d" % step), ("label.json", json.dumps(label).encode())):
            key, bucket = f"x/checkpoints/7/slot-0/{name}", self.there(region)
            there = bucket.objects.get(key)
            bucket.put_if(key, body, there.etag if there else None)
        self.time.now += 1

    def step_in(self, region: str) -> int | None:
        """Return the step of a checkpoint as a training would find it, None if there is none. It must be whole."""
        found = self.there(region).objects
        if "x/checkpoints/7/slot-0/label.json" not in found:
            return None
        step = int(found["x/checkpoints/7/slot-0/label.json"].json()["step"])
        assert found["x/checkpoints/7/slot-0/state"].body == b"%05d" % step, "a part of a checkpoint"
        return step

    @property
    def moves(self) -> list[Move]:
        keys = [key for key in sorted(self.bucket.objects) if key.endswith(".moved")]
        return [Move.from_json(self.bucket.objects[key].json()) for key in keys]


def test_the_next_region_goes_on_where_the_last_one_stopped() -> None:
    bench = MovingBench(LOST, LOST)
    assert bench.launch() is Exit.DONE
    assert bench.attempts == [f"1 in {FIRST}", f"2 in {SECOND}", f"3 in {THIRD}"]
    assert bench.went_on_from == [None, 10, 20]
    assert [move.lane.region for move in bench.moves] == [SECOND, THIRD]


def test_a_task_that_stays_in_its_region_moves_nothing() -> None:
    bench = MovingBench(Life(looks=[failed(Cause.INTERRUPTED)]))
    assert bench.launch() is Exit.DONE
    assert (bench.went_on_from, bench.moves) == ([None, 10], [])


def test_a_training_that_has_saved_nothing_leaves_nothing_to_bring() -> None:
    bench = MovingBench(LOST)
    bench.save = lambda *_: None  # type: ignore[method-assign]
    assert bench.launch() is Exit.DONE
    assert (bench.attempts, bench.moves) == ([f"1 in {FIRST}", f"2 in {SECOND}"], [])
    assert bench.result.usd == sum(outcome.usd for outcome in bench.result.outcomes)


def test_a_refused_attempt_hands_on_what_was_brought_to_it() -> None:
    refused = Life(looks=[failed(Cause.CAPACITY)])
    bench = MovingBench(LOST, refused)
    save = bench.save
    bench.save = lambda region, step: None if region == SECOND else save(region, step)  # type: ignore[method-assign]
    assert bench.launch() is Exit.DONE
    assert bench.went_on_from == [None, 10, 10]


def test_the_price_is_paid_from_the_envelope_and_told_before_anything_is_copied() -> None:
    places = tuple(replace(place, leave_usd_per_gb=0.02) for place in PLACES)
    bench = MovingBench(LOST, places=places, limits=replace(IMPATIENT, envelope=100.0))
    told: list[float] = []

    def copy(*given: Any) -> bool:
        told.append(bench.result.usd)
        return copy_in_memory(*given)

    driver = bench.driver()
    driver.moves.copy_object = copy
    assert driver.drive() is Exit.DONE
    price = (5 + len(json.dumps({"step": 10, "files": {"state": [5, "sum"]}}))) / GB * 0.02
    trainings = sum(outcome.usd for outcome in bench.result.outcomes)
    assert bench.result.usd - trainings == pytest.approx(price)
    assert told[0] == pytest.approx(bench.result.outcomes[0].usd + price)
    assert bench.result.outcomes[0].moved_usd == pytest.approx(price)
    assert driver.history.spent == pytest.approx(bench.result.usd)


def test_a_place_to_which_the_dollars_left_do_not_bring_the_checkpoint_is_passed_over() -> None:
    # A checkpoint of $50: an hour of the next Region's machine costs $3.60.
    places = tuple(replace(place, leave_usd_per_gb=50 / (53 / GB)) for place in PLACES)
    bench = MovingBench(LOST, places=(*places[:2], replace(places[0], site="zone-b")), limits=IMPATIENT)
    bench.task = replace(bench.task, limits=replace(IMPATIENT, envelope=20.0))
    assert bench.launch() is Exit.DONE
    assert (bench.attempts, bench.moves) == ([f"1 in {FIRST}", f"2 in {FIRST}"], [])
    assert bench.went_on_from == [None, 10]


def denied_after(bench: MovingBench, copies: int) -> Exit:
    """Launch with a role that may not copy any more after so many objects."""
    copied: list[str] = []

    def copy(*given: Any) -> bool:
        if len(copied) == copies:
            raise AccessDenied("copy s3://out-here/state: Access Denied", where=SECOND, hint="a policy is missing")
        copied.append(given[1].key)
        return copy_in_memory(*given)

    driver = bench.driver()
    driver.moves.copy_object = copy
    return driver.drive()


def test_a_checkpoint_that_may_not_be_copied_fails_its_task_and_nothing_begins_without_it() -> None:
    bench = MovingBench(LOST)
    assert denied_after(bench, 0) is Exit.UNAVAILABLE
    assert (bench.attempts, bench.result.state) == ([f"1 in {FIRST}"], TaskState.FAILED)
    assert bench.result.reason == (
        f"its checkpoint cannot be brought from {FIRST} to {SECOND}: copy s3://out-here/state: Access Denied "
        "(let the launchers' role do that: then `sweep retry` goes on from it)"
    )


def test_a_copy_that_was_denied_costs_nothing() -> None:
    bench = MovingBench(LOST)
    denied_after(bench, 0)
    assert [move.usd for move in bench.moves] == [0]
    assert bench.result.outcomes[0].moved_usd == 0


def test_of_a_copy_that_was_denied_half_way_what_has_arrived_is_paid() -> None:
    bench = MovingBench(LOST)
    denied_after(bench, 1)
    assert bench.result.outcomes[0].moved_usd == pytest.approx(5 / GB * 0.15)


def test_a_retry_goes_on_from_the_checkpoint_that_could_not_be_copied_and_pays_what_is_missing() -> None:
    bench = MovingBench(LOST)
    denied_after(bench, 1)
    bench.submission, bench.task = 2, replace(bench.task, after=1, places=PLACES[1:])
    assert bench.launch() is Exit.DONE
    assert bench.went_on_from == [None, 10]
    assert bench.result.outcomes[0].moved_usd == pytest.approx(SIZE / GB * 0.15)


def test_checkpoints_that_may_not_be_looked_at_fail_a_task_that_has_run() -> None:
    bench = MovingBench(LOST)

    def refuse(what: str) -> None:
        if what == "list":
            raise AccessDenied("list s3://out: Access Denied")

    bench.there(FIRST).before = refuse
    assert bench.launch() is Exit.UNAVAILABLE
    assert bench.attempts == [f"1 in {FIRST}"]
    assert f"cannot be brought from {FIRST} to {SECOND}: list s3://out: Access Denied" in bench.result.reason


def test_a_source_that_changed_since_it_was_listed_is_listed_again() -> None:
    bench, asked = MovingBench(LOST), []

    def copy(*given: Any) -> bool:
        asked.append(given[1].key)
        if len(asked) == 1:
            bench.save(FIRST, 15)
            raise AlreadyExists("it has changed")
        return copy_in_memory(*given)

    driver = bench.driver()
    driver.moves.copy_object = copy
    assert driver.drive() is Exit.DONE
    assert bench.went_on_from == [None, 15]


def test_who_is_asked_to_go_while_it_copies_leaves_the_rest_to_the_next_launcher() -> None:
    bench = MovingBench(LOST)

    def copy(*given: Any) -> bool:
        bench.time.term = True
        return copy_in_memory(*given)

    driver = bench.driver()
    driver.moves.copy_object = copy
    assert driver.drive() is Exit.RESTART
    assert bench.attempts == [f"1 in {FIRST}"]
    assert [key.rpartition("/")[2] for key in bench.there(SECOND).objects] == ["state"]
    bench.time.term = False
    copied: list[str] = []
    driver = bench.driver()
    driver.moves.copy_object = lambda *given: bool(copied.append(given[1].key)) or copy_in_memory(*given)  # type: ignore[func-returns-value]
    assert driver.drive() is Exit.DONE
    assert [key.rpartition("/")[2] for key in copied] == ["label.json"]
    assert bench.went_on_from == [None, 10]
    assert bench.result.outcomes[0].moved_usd == pytest.approx(53 / GB * 0.15, rel=0.2)


def test_a_cancel_ends_a_copy() -> None:
    bench = MovingBench(LOST)

    def copy(*given: Any) -> bool:
        bench.control.cancel(through=1)
        return copy_in_memory(*given)

    driver = bench.driver()
    driver.moves.copy_object = copy
    assert driver.drive() is Exit.CANCELLED
    assert bench.attempts == [f"1 in {FIRST}"]
    assert bench.result.state is TaskState.CANCELLED


def test_of_a_copy_that_a_cancel_ends_what_has_arrived_is_paid() -> None:
    bench = MovingBench(LOST)
    copied = cancelled_after(bench, 1)
    assert [key.rpartition("/")[2] for key in copied] == ["state"]
    assert bench.result.outcomes[0].moved_usd == pytest.approx(5 / GB * 0.15)
    assert bench.result.usd == pytest.approx(bench.result.outcomes[0].usd + 5 / GB * 0.15)


def test_what_has_arrived_of_an_object_in_parts_is_paid_too(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = MovingBench(LOST)

    def three(target: Target, upload: str) -> int:
        assert (target.key.rpartition("/")[2], upload) == ("state", "large")
        return 3

    monkeypatch.setattr(moves, "arrived_bytes", three)
    cancelled_after(bench, 0, "large")
    assert bench.result.outcomes[0].moved_usd == pytest.approx(3 / GB * 0.15)


def killed_after(bench: MovingBench, copies: int) -> None:
    """Launch; kill the launcher when it has copied so many objects."""
    copied: list[str] = []
    driver = bench.driver()

    def copy(*given: Any) -> bool:
        if len(copied) == copies:
            raise Killed
        copied.append(given[1].key)
        return copy_in_memory(*given)

    driver.moves.copy_object = copy
    with pytest.raises(Killed):
        driver.drive()


def close(bench: MovingBench) -> float | None:
    """Close the move of the task, as who finds its launcher gone."""
    return close_move(bench.task, bench.control.attempts(7), bench.control, lambda _: bench.platform)


@pytest.mark.parametrize("times", [1, 2])  # whoever closes it may be killed, too, and another one does it again
def test_of_a_copy_whose_launcher_was_killed_what_has_arrived_is_paid(times: int) -> None:
    bench = MovingBench(LOST)
    killed_after(bench, 1)
    assert bench.moves[0].usd == pytest.approx(SIZE / GB * 0.15)
    for _ in range(times):
        usd = close(bench)
        assert usd == pytest.approx(5 / GB * 0.15)


def test_a_task_that_was_not_to_move_has_no_move_to_close() -> None:
    bench = MovingBench()
    assert bench.launch() is Exit.DONE
    assert close(bench) is None


@pytest.mark.parametrize("is_closed", [True, False])
def test_a_retry_brings_the_rest_of_a_copy_whose_launcher_was_killed_and_it_is_paid_once(is_closed: bool) -> None:
    bench = MovingBench(LOST)
    killed_after(bench, 1)
    if is_closed:
        close(bench)
    bench.submission, bench.task = 2, replace(bench.task, after=1, places=PLACES[1:])
    assert bench.launch() is Exit.DONE
    assert bench.went_on_from == [None, 10]
    assert bench.result.outcomes[0].moved_usd == pytest.approx(SIZE / GB * 0.15)


def test_a_copy_that_goes_on_to_another_region_costs_what_has_arrived_in_either() -> None:
    bench = MovingBench(LOST)
    killed_after(bench, 1)
    bench.submission, bench.task = 2, replace(bench.task, after=1, places=PLACES[2:])
    assert bench.launch() is Exit.DONE
    assert bench.attempts == [f"1 in {FIRST}", f"2 in {THIRD}"]
    assert bench.result.outcomes[0].moved_usd == pytest.approx((5 + SIZE) / GB * 0.15)


def cancelled_after(bench: MovingBench, copies: int, upload: str = "") -> list[str]:
    """Launch; cancel while the copy after so many is under way, in parts if an upload is given. Return the copies."""
    copied: list[str] = []
    driver = bench.driver()

    def copy(*given: Any) -> bool:
        if len(copied) == copies:
            if upload:
                driver.moves.note(given[2].key, upload)
            bench.control.cancel(through=1)
            return False
        copied.append(given[1].key)
        return copy_in_memory(*given)

    driver.moves.copy_object = copy
    assert driver.drive() is Exit.CANCELLED
    return copied


def test_where_the_checkpoint_cannot_be_brought_a_later_place_beside_it_is_taken() -> None:
    bench = MovingBench(LOST, places=(*PLACES[:2], replace(PLACES[0], site="zone-b")))
    assert denied_after(bench, 1) is Exit.DONE
    assert bench.attempts == [f"1 in {FIRST}", f"2 in {FIRST}"]
    assert bench.went_on_from == [None, 10]
    assert bench.result.outcomes[0].moved_usd == pytest.approx(5 / GB * 0.15), "what was copied before is paid"


def test_where_checkpoints_may_not_be_looked_at_a_later_place_beside_them_is_taken() -> None:
    bench = MovingBench(LOST, places=(*PLACES[:2], replace(PLACES[0], site="zone-b")))

    def refuse(what: str) -> None:
        if what == "list":
            raise AccessDenied("list s3://out: Access Denied")

    bench.there(FIRST).before = refuse
    assert bench.launch() is Exit.DONE
    assert bench.attempts == [f"1 in {FIRST}", f"2 in {FIRST}"]


def test_throttling_waits_and_goes_on() -> None:
    bench, answers = MovingBench(LOST), [Throttled("slow down")]

    def copy(*given: Any) -> bool:
        if answers:
            raise answers.pop()
        return copy_in_memory(*given)

    driver = bench.driver()
    driver.moves.copy_object = copy
    assert driver.drive() is Exit.DONE
    assert bench.went_on_from == [None, 10]


ends = [LOST, Life(looks=[failed(Cause.INTERRUPTED)]), Life(looks=[RUNNING, DONE])]
lives = st.lists(st.sampled_from(ends), max_size=4)


@settings(max_examples=examples(150), deadline=None)
@given(lives, st.integers(1, 2), st.lists(turns, max_size=120))
def test_launchers_killed_anywhere_bring_each_checkpoint_whole_and_pay_it_once(
    made: list[Life], launchers: int, schedule: list[Turn]
) -> None:
    bench = MovingBench(*(Life(looks=list(life.looks)) for life in made))
    everybody = [Launcher(n, bench) for n in range(launchers)]
    play(bench, everybody, schedule)
    before_done = takewhile(lambda life: life.looks[-1] != DONE, made)
    has_places = sum(life.looks[-1] == failed(Cause.CAPACITY) for life in before_done) < len(REGIONS)
    assert bench.result.state is (TaskState.DONE if has_places else TaskState.FAILED)
    # Each training has gone on from where the one before it had stopped.
    assert bench.went_on_from == [None, *(10 * number for number in range(1, len(bench.went_on_from)))]
    between = [one.lane.region for one in bench.control.attempts(7)]
    moved = sum(here != there for here, there in pairwise(between))
    assert len({move.number for move in bench.moves}) >= moved
    for move in bench.moves:
        assert move.usd <= 60 / GB * 0.15 * (1 + 1e-9)
