"""The closed form of interrupted work, beside working it out by chance many times."""

from __future__ import annotations

import numpy as np
import pytest

from orchestrator.planner.hours.interruptions import RESTART_HOURS, expected_hours


def simulated(hours: float, every: float | None, rate: float, rounds: int = 40_000) -> tuple[float, float]:
    """Mean hours over many tasks, and its standard error: stretch by stretch, interruption by interruption."""
    random = np.random.default_rng(11)
    stretch = hours if every is None else every
    total = np.zeros(rounds)
    for _ in range(round(hours / stretch)):
        unfinished = np.ones(rounds, dtype=bool)
        while unfinished.any():
            until = random.exponential(1 / rate, rounds)
            interrupted = unfinished & (until < stretch)
            total[interrupted] += until[interrupted] + RESTART_HOURS
            total[unfinished & ~interrupted] += stretch
            unfinished = interrupted
    return float(total.mean()), float(total.std() / np.sqrt(rounds))


@pytest.mark.parametrize("rate", [0.01, 0.05, 0.2])
@pytest.mark.parametrize(("hours", "every"), [(1.0, None), (10.0, None), (15.0, None), (10.0, 0.5), (24.0, 4.0)])
def test_expected_hours_are_what_chance_gives(hours: float, every: float | None, rate: float) -> None:
    mean, error = simulated(hours, every, rate)
    assert float(expected_hours(np.array(hours), every, rate)) == pytest.approx(mean, abs=4 * error)


def test_each_lane_may_have_a_rate_of_its_own() -> None:
    found = expected_hours(np.array([10.0, 10.0, 10.0]), None, np.array([0.0, 0.05, 0.2]))
    assert found[0] == pytest.approx(10.0)
    assert found[1] == expected_hours(np.array(10.0), None)
    assert found[2] == expected_hours(np.array(10.0), None, 0.2) > found[1]


def test_checkpoints_help_the_more_the_longer_the_work() -> None:
    bare, saving = (expected_hours(np.array([1.0, 10.0, 100.0]), every) for every in (None, 0.25))
    assert (np.diff(bare / saving) > 0).all()


def test_work_that_would_never_end_is_priced_so() -> None:
    assert expected_hours(np.array(1e6), None) > 1e300


def test_a_task_shorter_than_its_checkpoints_is_one_stretch() -> None:
    assert expected_hours(np.array(0.1), 1.0) == expected_hours(np.array(0.1), None)
