"""A pinned runtime is that of a task in the middle, and takes the place of what was learned or guessed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from orchestrator.catalog.market import HISTORY, PINS, Seen, table
from orchestrator.planner.solve import solve
from tests.fixtures.sweeps import candidate, make_market, make_sweep

PIN = ("runtime", "ml.g5.xlarge", 3.0, "anna", "2026-11-20")
NOTE = "runtime of ml.g5.xlarge: pinned to 3h for a task of a middling size, by anna on 2026-11-20"


def made(*, finished: int = 0, **asked: Any) -> tuple[list[float], tuple[str, ...]]:
    """Return the hours of each share, and the notes, after so many finished tasks of an hour an epoch."""
    rows = [
        ("sagemaker", "us-east-1", "ml.g5.xlarge", "on_demand", 1, 10**9, f'{{"epochs":{1 + n % 2}}}', 1.0 + n % 2)
        for n in range(finished)
    ]
    market = replace(make_market(candidate()), history=table(rows, HISTORY), seen=Seen(pins=table([PIN], PINS)))
    plan = solve(make_sweep(**{"runtime": None, "sizes": ["epochs"]} | asked), market)
    return [share.hours for share in plan.shares], plan.notes


def test_where_nothing_was_learned_other_sizes_are_in_proportion() -> None:
    hours, notes = made()
    assert hours == [pytest.approx(3 / 2**0.5), pytest.approx(3 * 2**0.5)]
    assert [note for note in notes if note.startswith("runtime")] == [NOTE]


def test_what_was_learned_still_says_how_hours_grow() -> None:
    hours, notes = made(finished=20)
    assert hours[1] / hours[0] == pytest.approx(2.0, rel=0.05)
    assert sum(hours) / 2 == pytest.approx(3.0, rel=0.1)
    assert NOTE in notes


def test_the_sweep_file_comes_first() -> None:
    hours, notes = made(runtime=1.0, sizes=[])
    assert hours == [1.0]
    assert NOTE not in notes
