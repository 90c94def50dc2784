"""A chart of what more instances are worth: instances to the right, times as fast upwards, beside the ideal line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.chart.drawing import INK, PALE, Drawing, Text
from orchestrator.chart.encode import encode
from orchestrator.chart.panel import Panel, Series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.scaling.figures import ScalingRow

WIDTH, HEIGHT = 720, 400
BLUE = "#4682b4"


def draw_scaling(rows: Sequence[ScalingRow], form: str) -> bytes:
    """Return the chart as `svg` or `png`: a point for each number of instances, with its efficiency beside it."""
    found = [(float(row.instances), row.speedup) for row in rows]
    ideal = [(float(row.instances), row.ideal) for row in rows]
    dots = [Series([point], BLUE, width=6) for point in found]
    panel = Panel("times as fast", "instances", [Series(ideal, PALE, width=2), Series(found, BLUE, width=2), *dots])
    across, up = panel.axes(10, 10, WIDTH - 120, HEIGHT - 20)
    words = [
        Text(across.at(row.instances) + 6, up.at(row.speedup) + 14, f"{row.efficiency:.0%}", colour=INK, size=11)
        for row in rows
    ]
    words.append(Text(across.at(ideal[-1][0]) + 6, up.at(ideal[-1][1]) + 4, "ideal", colour=INK, size=11))
    return encode(Drawing(WIDTH, HEIGHT, (*panel.shapes(10, 10, WIDTH - 120, HEIGHT - 20), *words)), form)
