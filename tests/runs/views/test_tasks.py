"""How the tasks of a run are ranked: by the last value of the objective, or by the best that each ever had."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.plan.plan import Dataset, Plan, Share
from orchestrator.runs.known.rows import Known
from orchestrator.runs.views.tasks import measured, ranked, task_rows
from orchestrator.runs.written.anchor import Anchor
from orchestrator.spec.sweep import Objective
from orchestrator.wire.curve import Curves
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.result import Outcome, Result, TaskState
from orchestrator.wire.task import Lane, Limits, Place, Purchase
from tests.fixtures.sweeps import make_sweep

if TYPE_CHECKING:
    from orchestrator.runs.views.tasks import TaskRow

LANE = Lane("sagemaker", "us-east-1", "ml.g5.xlarge", Purchase.SPOT)
PLACE = Place(LANE, "s3://data/alps/", 1.0)
CURVES = {0: "1:0.9 2:0.2 3:0.5", 1: "1:0.9 2:0.4 3:0.3"}
"""Task 0 was better once, task 1 is better at the end."""


def rows(objective: dict[str, str], states: dict[int, TaskState] | None = None) -> list[TaskRow]:
    sweep = make_sweep(objective=objective, train__metrics=["loss", "accuracy"])
    plan = Plan(sweep, "m", (Dataset("alps@1", 1),), (Share(0, 3, 0, (PLACE,), 1, 1, Limits(60)),))
    known = []
    for task, curve in CURVES.items():
        state = (states or {}).get(task, TaskState.DONE)
        last = float(curve.rpartition(":")[2])
        outcome = Outcome(1, LANE, f"t-{task}", state, metrics={"loss": last})
        known.append(Known("e", Result(task, "k", state, outcomes=(outcome,), curves={"loss": curve}), state))
    made = task_rows(Anchor("run", plan, "code", "ada", 0.0), known, Ranges(((0, 3),)), 0.0)
    return ranked(made, plan.sweep.objective)


@pytest.mark.parametrize(
    ("objective", "order", "scores"),
    [
        ({"minimize": "loss"}, [1, 0, 2], [0.3, 0.5, None]),
        ({"maximize": "loss"}, [0, 1, 2], [0.5, 0.3, None]),
        ({"minimize": "loss", "of": "best"}, [0, 1, 2], [0.2, 0.3, None]),
        ({"maximize": "loss", "of": "best"}, [0, 1, 2], [0.9, 0.9, None]),
        ({"minimize": "accuracy", "of": "best"}, [0, 1, 2], [None, None, None]),
    ],
)
def test_the_last_value_counts_or_the_best_one(
    objective: dict[str, str], order: list[int], scores: list[float | None]
) -> None:
    found = rows(objective)
    assert [row.task for row in found] == order
    assert [row.score for row in found] == scores


def test_what_is_not_done_is_ranked_by_nothing() -> None:
    first, *others = rows({"minimize": "loss", "of": "best"}, {0: TaskState.FAILED})
    assert (first.task, first.score) == (1, 0.3)
    assert [row.score for row in others] == [None, None]


def test_what_is_found_in_the_logs_afterwards_ranks_too() -> None:
    objective = Objective(maximize="accuracy")
    found = {0: Curves({"accuracy": "1:0.5 2:0.6"}), 1: Curves({"accuracy": "1:0.9 2:0.8"})}
    best, second, last = measured(rows({"maximize": "accuracy"}), found, objective)
    assert (best.task, best.score, best.metrics) == (1, 0.8, {"loss": 0.3, "accuracy": 0.8})
    assert (second.task, second.score) == (0, 0.6)
    assert (last.task, last.score) == (2, None)
