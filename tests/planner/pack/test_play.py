"""What ends in time is found by playing: longest first, and for the proof in any order at all."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.planner.pack import play
from orchestrator.planner.pack.play import Load, end_hours, end_in_any_order, fill, fits
from tests.planner.solver.brute_force import last_end

if TYPE_CHECKING:
    from collections.abc import Sequence

loads = st.lists(
    st.builds(Load, st.sampled_from([0.3, 1.0, 1.1, 2.5, 4.0]), st.sampled_from([0.0, 0.0, 0.7]), st.integers(1, 9)),
    min_size=1,
    max_size=5,
    unique_by=lambda load: (load.hours, load.wait),
)
slots = st.integers(1, 6)


def one_by_one(loads: Sequence[Load]) -> list[tuple[float, float]]:
    return [(load.wait, load.hours) for load in loads for _ in range(load.count)]


@pytest.fixture(params=[0, 10**6], ids=["many at once", "one by one"], autouse=True)
def both_ways(request: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(play, "ONE_BY_ONE", request.param)


@given(slots, loads)
def test_it_ends_when_a_task_by_task_play_ends(slots: int, loads: list[Load]) -> None:
    assert max(end_hours(slots, loads)) == pytest.approx(last_end(one_by_one(loads), slots))


@given(slots, loads, st.lists(st.sampled_from([0.2, 1.0, 1.7, 6.0]), max_size=7))
def test_slots_that_are_busy_take_their_first_task_once_they_are_free(
    slots: int, loads: list[Load], busy: list[float]
) -> None:
    free = [0.0] * (slots - len(busy)) + sorted(busy)[max(len(busy) - slots, 0) :]
    ends = [0.0]
    for wait, hours in sorted(one_by_one(loads), key=lambda task: (-task[1], task[0])):
        if slots < len(one_by_one(loads)) + len(busy):
            free = [max(hours_left, wait) for hours_left in free]
        slot = min(range(slots), key=free.__getitem__)
        free[slot] = max(free[slot], wait) + hours
        ends.append(free[slot])
    assert max(end_hours(slots, loads, busy)) == pytest.approx(max(ends))


@given(slots, loads, st.randoms(use_true_random=False))
def test_no_order_ends_later_than_what_is_proven(slots: int, loads: list[Load], random: Any) -> None:
    tasks = one_by_one(loads)
    random.shuffle(tasks)
    free = [0.0] * slots
    for wait, hours in tasks:  # strictly one after another: a task that waits holds up its slot
        first = free.index(min(free))
        free[first] = max(free[first], wait) + hours
    proven = end_in_any_order(slots, loads)
    if len({load.wait for load in loads}) == 1:
        assert max(free) <= proven + 1e-9
    assert max(end_hours(slots, loads)) <= proven + 1e-9


@given(slots, loads, st.floats(1, 20))
def test_what_is_filled_in_fits_and_one_more_of_it_would_not(slots: int, loads: list[Load], until: float) -> None:
    placed = fill(slots, until, loads)
    kept = [Load(load.hours, load.wait, count) for load, count in zip(loads, placed, strict=True)]
    assert fits(slots, until, kept)
    assert (kept == loads) or not fits(slots, until, loads)


@given(slots, loads, st.floats(1, 20), st.data())
def test_what_fits_still_does_with_fewer_or_shorter_tasks_or_more_slots(
    slots: int, loads: list[Load], until: float, data: Any
) -> None:
    if not fits(slots, until, loads):
        return
    fewer = [Load(load.hours, load.wait, data.draw(st.integers(0, load.count))) for load in loads]
    assert fits(slots, until, fewer)
    assert fits(slots + 1, until, loads)
    if len({load.wait for load in loads}) == 1:
        assert fits(
            slots, until, [Load(data.draw(st.floats(0.1, load.hours)), load.wait, load.count) for load in loads]
        )


many_loads = st.lists(
    st.builds(Load, st.sampled_from([0.25, 0.5, 1.1, 3.0]), st.sampled_from([0.0, 0.0, 0.75]), st.integers(1, 90)),
    min_size=1,
    max_size=6,
)


@given(st.integers(1, 40), many_loads)
def test_many_tasks_that_start_at_once_end_when_they_do_one_by_one(slots: int, loads: list[Load]) -> None:
    def ends(most: int) -> list[float]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(play, "ONE_BY_ONE", most)
            return end_hours(slots, loads)

    assert ends(0) == pytest.approx(ends(10**6))
    assert max(ends(0)) == pytest.approx(last_end(one_by_one(loads), slots))


def test_slots_without_a_limit_hold_everything_that_is_short_enough() -> None:
    assert fill(inf, 2.0, [Load(2.0, 0.0, 10**6)]) == [10**6]
    assert fill(0, 2.0, [Load(1.0, 0.0, 3)]) == [0]
    assert not fits(inf, 2.0, [Load(2.0, 0.5, 1)])


def test_no_task_is_lost_where_slots_are_free_a_round_and_a_rounding_error_apart() -> None:
    loads = [Load(0.9922040219299337, 0.075, 55), Load(0.9922040219299337, 0.267, 41), Load(0.25, 0.0, 9)]
    assert max(end_hours(4, loads)) == pytest.approx(last_end(one_by_one(loads), 4))
