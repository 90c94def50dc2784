"""One slot is filled with the tasks that are worth most."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from orchestrator.planner.solver.slots.fill_slot import NEAR, Kind, fill_slot


@pytest.mark.parametrize("seed", range(30))
def test_a_slot_is_worth_what_the_best_of_all_fillings_is(seed: int) -> None:
    random = np.random.default_rng(seed)
    kinds = [Kind(float(random.uniform(1, 5)), float(random.choice([1.0, 1.5, 2.5, 4.0])), 3) for _ in range(3)]
    kinds.sort(key=lambda kind: -kind.value / kind.hours)
    counts, value = fill_slot(kinds, 7.0)
    assert sum(count * kind.hours for count, kind in zip(counts, kinds, strict=True)) <= 7.0
    assert value == pytest.approx(sum(count * kind.value for count, kind in zip(counts, kinds, strict=True)))
    ways = product(range(4), repeat=3)
    best = max(
        sum(count * kind.value for count, kind in zip(way, kinds, strict=True))
        for way in ways
        if sum(count * kind.hours for count, kind in zip(way, kinds, strict=True)) <= 7.0
    )
    assert value >= best * (1 - 2 * NEAR)
