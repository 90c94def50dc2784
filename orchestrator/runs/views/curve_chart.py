"""The learning curves of a run's tasks: a chart for each metric, the best tasks in colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.chart.drawing import COLOURS, PALE, Drawing, Line, Text
from orchestrator.chart.panel import TOP, Panel, Series
from orchestrator.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orchestrator.runs.views.tasks import TaskRow
    from orchestrator.spec.sweep import Objective

MOST_PANELS = 4
MOST_PALE = 300
"""Curves that are there for comparison: more would be a grey square."""
WIDTH, HEIGHT, LEGEND, MARGIN = 640, 280, 300, 16
LONGEST_LABEL = 44


def draw_curves(rows: Sequence[TaskRow], objective: Objective | None) -> Drawing:
    """`rows`: best first, as `Run.results` gives them."""
    drawn = [row for row in rows if row.curves][: len(COLOURS) + MOST_PALE]
    if not drawn:
        hint = "call `orchestrator.report(step=…, loss=…)` in the training, or give train.metrics a regex"
        raise UsageError("none of these tasks has reported a metric yet", hint=hint)
    metrics = _metrics(drawn, objective)[:MOST_PANELS]
    shapes: list[Line | Text] = list(_legend(drawn))
    for number, metric in enumerate(metrics):
        panel = Panel(metric, "step", list(_series(drawn, metric)))
        shapes += panel.shapes(0, MARGIN + number * HEIGHT, WIDTH, HEIGHT)
    return Drawing(WIDTH + LEGEND + 2 * MARGIN, HEIGHT * len(metrics) + 2 * MARGIN, tuple(shapes))


def _metrics(rows: Sequence[TaskRow], objective: Objective | None) -> list[str]:
    """The objective's first."""
    names = dict.fromkeys(name for row in rows for name in row.curves)
    first = objective.metric if objective else ""
    return sorted(names, key=lambda name: name != first)


def _series(rows: Sequence[TaskRow], metric: str) -> Iterator[Series]:
    """The best last: it lies on top."""
    for rank, row in reversed(list(enumerate(rows))):
        if metric in row.curves:
            best = rank < len(COLOURS)
            yield Series(row.curves[metric], COLOURS[rank] if best else PALE, 2.0 if best else 1.0)


def _legend(rows: Sequence[TaskRow]) -> Iterator[Line | Text]:
    x, y = WIDTH + 2 * MARGIN, MARGIN + TOP
    telling = _telling(rows)
    tells_data = len({row.dataset for row in rows}) > 1
    for rank, row in enumerate(rows[: len(COLOURS)]):
        here = y + rank * 20
        yield Line(((x, here), (x + 18, here)), COLOURS[rank], 2.0)
        yield Text(x + 26, here + 4, _label(row, telling, tells_data=tells_data))
    if len(rows) > len(COLOURS):
        here = y + len(COLOURS) * 20
        yield Line(((x, here), (x + 18, here)), PALE)
        yield Text(x + 26, here + 4, f"{len(rows) - len(COLOURS)} more")


def _telling(rows: Sequence[TaskRow]) -> list[str]:
    """Parameters that differ among these tasks."""
    names = dict.fromkeys(name for row in rows for name in row.point)
    return [name for name in names if len({row.point.get(name) for row in rows}) > 1]


def _label(row: TaskRow, telling: list[str], *, tells_data: bool) -> str:
    values = [f"{name}={_shown(row.point[name])}" for name in telling if name in row.point]
    text = " ".join([f"{row.task}:", *([row.dataset] if tells_data or not values else []), *values])
    return text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…"


def _shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
