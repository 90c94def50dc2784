"""What the database remembers of a run, however large."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.db.database import Database
from orchestrator.plan.plan import Dataset, Plan, Share
from orchestrator.runs.cloud import Account
from orchestrator.runs.known import results as stored
from orchestrator.runs.known.ledger import Ledger
from orchestrator.runs.known.rows import Known
from orchestrator.runs.written.anchor import Anchor
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.result import Result, TaskState
from orchestrator.wire.task import Lane, Limits, Place, Purchase
from tests.fixtures.sweeps import make_sweep

if TYPE_CHECKING:
    from collections.abc import Callable

ACCOUNT = Account("us-east-1", "control", "data-{region}", "sweep", "sweep", "role", "ada", 30.0)
PLACE = Place(Lane("sagemaker", "us-east-1", "ml.g5.xlarge", Purchase.SPOT), "s3://data/alps/", 1.0)
SCATTERED = st.lists(st.integers(0, 60), unique=True)


@pytest.fixture
def remembering(database_url: str) -> Callable[[set[int]], Ledger]:
    """A ledger in which these tasks of `run` have ended, and task 5 runs."""

    def remember(ended: set[int]) -> Ledger:
        ledger = Ledger(Database(database_url))
        share = Share(0, 10_000, 0, (PLACE,), 1.0, 1.0, Limits(3600))
        plan = Plan(make_sweep(), "market", (Dataset("alps@1", 10),), (share,))
        ledger.remember(Anchor("run", plan, "code", "ada", time.time()), ACCOUNT)
        states = dict.fromkeys(ended, TaskState.DONE) | {5: TaskState.RUNNING}
        ledger.save("run", [Known("etag", Result(task, "key", state), state) for task, state in states.items()])
        return ledger

    return remember


def test_tasks_that_ended_are_told_from_those_that_did_not(remembering: Callable[[set[int]], Ledger]) -> None:
    ledger = remembering({1, 2, 700, 9_000})
    assert ledger.unfinished("run", Ranges(((8_999, 9_002), (0, 3), (5, 6), (700, 701)))) == Ranges.of(
        [0, 5, 8_999, 9_001]
    )
    assert [ledger.ended("run", Ranges((span,))) for span in ((0, 2), (2, 10_000), (3, 700))] == [1, 3, 0]
    assert ledger.ended("run", Ranges(((9_000, 9_001), (0, 3)))) == 3
    assert ledger.unfinished("run", Ranges()) == Ranges()
    assert ledger.unfinished("elsewhere", Ranges.of([1])) == Ranges.of([1])


@given(SCATTERED, st.integers(0, 10))
def test_few_ranges_are_asked_for_and_they_hold_all_tasks(numbers: list[int], gap: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored, "GAP", gap)
        windows = stored._windows(Ranges.in_order((number, number + 1) for number in numbers))
    assert set(numbers) <= {number for first, stop in windows for number in range(first, stop)}
    assert all(later - stop > gap for (_, stop), (later, _) in itertools.pairwise(windows))
