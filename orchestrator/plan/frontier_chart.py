"""A chart of plans from the cheapest to the fastest: hours to the right, dollars upwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.chart.drawing import INK, Drawing, Text
from orchestrator.chart.encode import encode
from orchestrator.chart.panel import Panel, Series

if TYPE_CHECKING:
    from orchestrator.plan.plan import Plan

WIDTH, HEIGHT = 720, 400
BLUE = "#4682b4"


def draw_frontier(plans: list[Plan], form: str) -> bytes:
    """Return the chart as `svg` or `png`: a point for each plan, with its hours and dollars beside it."""
    points = [(plan.finish, plan.usd) for plan in plans]
    dots = [Series([point], BLUE, width=6) for point in points]
    panel = Panel("expected $", "hours until the last task ends", [Series(points, BLUE, width=2), *dots])
    across, up = panel.axes(10, 10, WIDTH - 120, HEIGHT - 20)
    words = [
        Text(across.at(h) + 6, up.at(usd) - 6, f"{h:.3g} h, ${usd:,.2f}", colour=INK, size=11) for h, usd in points
    ]
    drawing = Drawing(WIDTH, HEIGHT, (*panel.shapes(10, 10, WIDTH - 120, HEIGHT - 20), *words))
    return encode(drawing, form)
