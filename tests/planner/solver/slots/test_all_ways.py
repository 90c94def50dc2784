"""All ways to fill a slot are listed where they are few, and the best of them is looked up for many slots at once."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from orchestrator.planner.solver.slots.all_ways import Slot, all_ways, make_lookups


@pytest.mark.parametrize("seed", range(10))
def test_the_best_way_is_worth_what_the_best_of_all_fillings_is(seed: int) -> None:
    random = np.random.default_rng(seed)
    lengths = tuple(sorted(random.choice([1.0, 1.5, 2.2, 2.5, 4.0], 3, replace=False).tolist(), reverse=True))
    slots = [Slot(0, 9.0, lengths), Slot(1, 9.0, lengths), Slot(2, 1e6, lengths)]
    lookups, others = make_lookups(slots)
    assert [lookup.numbers.tolist() for lookup in lookups] == [[0, 1]]
    assert others.tolist() == [2]
    worth = random.uniform(-1, 4, (2, 3))
    counts, values = lookups[0].best(worth)
    assert (counts @ np.array(lengths) <= 9.0 * (1 + 1e-9)).all()
    for slot in range(2):
        fillings = [way for way in product(range(10), repeat=3) if np.dot(way, lengths) <= 9.0 * (1 + 1e-9)]
        best = max(float(np.dot(way, np.maximum(worth[slot], 0))) for way in fillings)
        assert values[slot] == pytest.approx(best)
        assert np.maximum(worth[slot], 0) @ counts[slot] == pytest.approx(best)


def test_no_way_has_room_for_one_task_more() -> None:
    ways = all_ways((5.0, 3.0, 2.0), 10.0)
    assert ways is not None
    assert sorted(map(tuple, ways.tolist())) == [
        (0, 0, 5), (0, 1, 3), (0, 2, 2), (0, 3, 0), (1, 0, 2), (1, 1, 1), (2, 0, 0),
    ]  # fmt: skip
