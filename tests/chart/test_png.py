"""A PNG has the colours of the SVG, each exactly."""

from __future__ import annotations

import io

import pytest

from orchestrator.chart.drawing import Drawing, Line
from orchestrator.chart.png import png
from orchestrator.runs.views.curve_chart import COLOURS

image = pytest.importorskip("PIL.Image")


def test_every_colour_of_a_drawing_is_in_its_picture(tmp_path: object) -> None:  # noqa: ARG001
    lines = tuple(
        Line(((5.0, 10.0 * (number + 1)), (95.0, 10.0 * (number + 1))), colour, 3.0)
        for number, colour in enumerate(COLOURS)
    )
    picture = image.open(io.BytesIO(png(Drawing(100, 10 * (len(COLOURS) + 2), lines)))).convert("RGB")
    found = {f"#{red:02x}{green:02x}{blue:02x}" for _, (red, green, blue) in picture.getcolors(100_000)}
    assert {colour.lower() for colour in COLOURS} <= found
