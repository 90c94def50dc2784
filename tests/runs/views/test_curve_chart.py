"""Learning curves: the best in colour, the objective's metric first, and no more than can be seen."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.chart.drawing import PALE, Drawing, Line, Text
from orchestrator.errors import UsageError
from orchestrator.runs.views.curve_chart import COLOURS, draw_curves
from orchestrator.runs.views.tasks import TaskRow
from orchestrator.spec.sweep import Objective
from orchestrator.wire.result import TaskState


def row(task: int, **changes: Any) -> TaskRow:
    fields: dict[str, Any] = {
        "task": task, "dataset": "alps@1", "point": {"lr": 0.1 * (task + 1), "batch": 32}, "state": TaskState.DONE,
        "attempt": 1, "platform": "", "region": "", "instance_type": "", "purchase": "", "training": "",
        "seconds": 1.0, "usd": 0.0, "metrics": {}, "reason": "", "curves": {"loss": [(1, 3), (2, 2), (3, 1.5)]},
    }  # fmt: skip
    return TaskRow(**fields | changes)


def words(drawing: Drawing) -> list[str]:
    return [shape.text for shape in drawing.shapes if isinstance(shape, Text)]


def curves(drawing: Drawing) -> list[str]:
    return [shape.colour for shape in drawing.shapes if isinstance(shape, Line) and len(shape.points) == 3]


def test_each_metric_has_a_chart_and_the_objective_comes_first() -> None:
    both = {"accuracy": [(1, 0.1), (2, 0.5), (3, 0.9)], "loss": [(1, 3), (2, 2), (3, 1)]}
    drawing = draw_curves([row(0, curves=both)], Objective(minimize="loss"))
    assert [word for word in words(drawing) if word in both] == ["loss", "accuracy"]


def test_the_best_are_coloured_on_top_of_the_others() -> None:
    drawing = draw_curves([row(task) for task in range(12)], None)
    found = [colour for colour in curves(drawing) if colour in (*COLOURS, PALE)]
    assert found == [PALE] * 4 + list(reversed(COLOURS))
    assert "4 more" in words(drawing)


def test_the_legend_tells_what_sets_tasks_apart() -> None:
    drawing = draw_curves([row(3), row(0)], None)
    assert [word for word in words(drawing) if "lr=" in word] == ["3: lr=0.4", "0: lr=0.1"]


def test_tasks_that_reported_nothing_are_left_out() -> None:
    assert len([c for c in curves(draw_curves([row(0, curves={}), row(1)], None)) if c in COLOURS]) == 1


def test_a_run_without_any_curve_says_how_to_get_one() -> None:
    with pytest.raises(UsageError, match="reported") as error:
        draw_curves([row(0, curves={})], None)
    assert "orchestrator.report" in str(error.value)


def test_a_huge_run_is_drawn_in_little() -> None:
    drawing = draw_curves([row(task) for task in range(5_000)], None)
    assert len(drawing.shapes) < 500
