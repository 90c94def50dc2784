"""A picture of a month: what was paid until each day, a line for each of the dearest."""

from __future__ import annotations

from collections import defaultdict
from itertools import accumulate
from typing import TYPE_CHECKING

from orchestrator.chart.drawing import COLOURS, PALE, Drawing, Line, Text
from orchestrator.chart.encode import encode
from orchestrator.chart.panel import TOP, Panel, Series
from orchestrator.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.spending.paid import Known, MonthSpan

WIDTH, HEIGHT, LEGEND, MARGIN, ROW = 640, 320, 300, 16, 20


def draw_month(known: Known, month: MonthSpan, by: str, form: str) -> bytes:
    """Return what a month has cost, added up day by day, as `svg` or `png`. UsageError where nothing was paid."""
    return encode(month_chart(known, month, by), form)


def month_chart(known: Known, month: MonthSpan, by: str) -> Drawing:
    """Return the chart of a month: one line in all by day, else one for each workload, owner, Region or run."""
    lines = _lines(known, month, by)
    if not lines:
        raise UsageError(f"nothing was paid in {month.name}: there is nothing to draw", where="--plot")
    series = [
        Series(points, COLOURS[rank] if rank < len(COLOURS) else PALE, 2.0 if rank < len(COLOURS) else 1.0)
        for rank, (_, points) in reversed(list(enumerate(lines)))
    ]
    panel = Panel(f"$ paid in {month.name}, added up", "day of the month (UTC)", series)
    shapes = (*panel.shapes(0, MARGIN, WIDTH, HEIGHT), *_legend(lines))
    height = max(HEIGHT, TOP + (min(len(lines), len(COLOURS)) + 1) * ROW) + 2 * MARGIN
    return Drawing(WIDTH + LEGEND + 2 * MARGIN, height, shapes)


_Named = tuple[str, list[tuple[float, float]]]


def _lines(known: Known, month: MonthSpan, by: str) -> list[_Named]:
    """Return the points of each line, the dearest first."""
    paid: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for one in known.paid:
        paid["all runs" if by == "day" else str(getattr(one, by))][one.day] += one.usd
    sums = {name: list(accumulate(days[day] for day in month.days)) for name, days in paid.items()}
    ranked = sorted(sums, key=lambda name: (-sums[name][-1], name))
    return [(name, [(day + 1.0, usd) for day, usd in enumerate(sums[name])]) for name in ranked]


def _legend(lines: Sequence[_Named]) -> list[Line | Text]:
    x, y, shapes = WIDTH + 2 * MARGIN, MARGIN + TOP, list[Line | Text]()
    for rank, (name, points) in enumerate(lines[: len(COLOURS)]):
        here = y + rank * ROW
        shapes += [
            Line(((x, here), (x + 18, here)), COLOURS[rank], 2.0),
            Text(x + 26, here + 4, f"{name[:28]}: ${points[-1][1]:,.2f}"),
        ]
    if len(lines) > len(COLOURS):
        shapes.append(Text(x + 26, y + len(COLOURS) * ROW + 4, f"{len(lines) - len(COLOURS)} more"))
    return shapes
