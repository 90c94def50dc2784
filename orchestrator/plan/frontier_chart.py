"""Plans from the cheapest to the fastest, as a drawing: hours to the right, dollars upwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.chart.drawing import INK, Drawing, Text
from orchestrator.chart.panel import Panel, Series

if TYPE_CHECKING:
    from orchestrator.plan.plan import Plan

WIDTH, HEIGHT = 720, 400
BLUE = "#4682b4"


def picture(plans: list[Plan]) -> Drawing:
    """A point and its words for each plan."""
    points = [(plan.finish, plan.usd) for plan in plans]
    dots = [Series([point], BLUE, width=6) for point in points]
    panel = Panel("expected $", "hours until the last task ends", [Series(points, BLUE, width=2), *dots])
    across, up = panel.axes(10, 10, WIDTH - 120, HEIGHT - 20)
    words = [
        Text(across.at(h) + 6, up.at(usd) - 6, f"{h:.3g} h, ${usd:,.2f}", colour=INK, size=11) for h, usd in points
    ]
    return Drawing(WIDTH, HEIGHT, (*panel.shapes(10, 10, WIDTH - 120, HEIGHT - 20), *words))
