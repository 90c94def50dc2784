"""All slots of a lane are filled with what is worth most, in the order in which tasks start."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from orchestrator.planner.pack.play import Load, fits
from orchestrator.planner.solver.slots.fill_lane import LaneToFill, Wanted, Way, fill_lane

TRIES = 300


def fits_longest_first(lane: LaneToFill, counts: list[int]) -> bool:
    loads = [Load(kind.hours, kind.wait, count) for kind, count in zip(lane.kinds, counts, strict=True)]
    return fits(lane.slots, lane.until, loads)


@pytest.mark.parametrize("seed", range(20))
def test_a_small_lane_is_worth_what_the_best_of_all_its_fillings_is(seed: int) -> None:
    random = np.random.default_rng(seed)
    hours = random.choice([1.0, 1.5, 2.2, 2.9, 4.1], 3, replace=False)
    kinds = [Wanted(float(each), 0.0, float(each * random.uniform(0.9, 1.1)), 4.0, 4) for each in hours]
    lane = LaneToFill(2, 7.0, kinds, beyond=0.0)
    found = fill_lane(lane, [], TRIES)
    assert fits_longest_first(lane, found)
    ways = [list(way) for way in product(range(5), repeat=3)]
    best = max(lane.worth(way) for way in ways if fits_longest_first(lane, way))
    assert lane.worth(found) >= best * (1 - 1e-9)


def test_a_lane_of_many_slots_is_nearly_full_although_longest_first_wastes_the_ends_of_slots() -> None:
    hours = (0.631, 0.768, 1.204, 1.361)
    ways = [Way((19, 0, 0, 0), 0.08), Way((2, 3, 7, 0), 0.62), Way((2, 0, 1, 7), 0.23), Way((1, 13, 0, 1), 0.07)]
    about = [sum(way.counts[kind] * way.part * 154 for way in ways) for kind in range(4)]
    kinds = [Wanted(each, 0.0, 2.11 * each, number, 1_000) for each, number in zip(hours, about, strict=True)]
    lane = LaneToFill(154, 12.0, kinds, beyond=0.03)
    plain = lane.as_many_as_fit([int(number) for number in about])
    found = fill_lane(lane, ways, 1_000)
    assert fits_longest_first(lane, found)
    assert lane.worth(plain) < 0.98 * lane.worth(about) < lane.worth(found)


def test_what_the_program_has_not_put_there_is_worth_less() -> None:
    kinds = [Wanted(1.0, 0.0, 1.0, 3.0, 9), Wanted(1.0, 0.0, 1.1, 0.0, 9)]
    assert fill_lane(LaneToFill(1, 3.0, kinds, beyond=0.5), [], TRIES) == [3, 0]
    assert fill_lane(LaneToFill(1, 3.0, kinds, beyond=0.0), [], TRIES) == [0, 3]


def test_there_are_never_more_tasks_than_are_left() -> None:
    kinds = [Wanted(0.5, 0.0, 1.0, 2.0, 2), Wanted(0.4, 0.1, 1.0, 1.0, 3)]
    assert fill_lane(LaneToFill(50, 8.0, kinds, beyond=0.03), [Way((2, 1), 1.0)], TRIES) == [2, 3]
