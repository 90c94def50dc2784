"""Axes with round numbers, and everything drawn within its rectangle."""

from __future__ import annotations

import io
import math
import sys
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.chart.drawing import Drawing, Line, Text
from orchestrator.chart.panel import Axis, Panel, Series
from orchestrator.chart.png import png
from orchestrator.chart.svg import svg
from orchestrator.errors import UsageError

NUMBERS = st.floats(-1e12, 1e12).map(lambda value: float(f"{value:.6g}")) | st.floats(1e-9, 1e9)
SERIES = st.lists(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=5), min_size=1, max_size=3)


@given(SERIES)
def test_whatever_is_drawn_stays_within_its_rectangle(series: list[list[tuple[float, float]]]) -> None:
    panel = Panel("loss", "step", [Series(points) for points in series])
    for shape in panel.shapes(10, 20, 600, 280):
        points = shape.points if isinstance(shape, Line) else [(shape.x, shape.y)]
        for x, y in points:
            assert 10 - 4 <= x <= 610 + 4
            assert 20 <= y <= 300


@given(st.lists(NUMBERS, min_size=1, max_size=5), st.booleans())
def test_ticks_are_few_in_order_and_within(values: list[float], may_be_log: bool) -> None:
    axis = Axis.over(values, 0, 100, may_be_log=may_be_log)
    assert len(axis.ticks) <= 12
    assert axis.ticks == sorted(axis.ticks)
    assert all(-1e-6 <= axis.at(tick) <= 100 + 1e-6 for tick in axis.ticks)


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([0, 10], [0, 2, 4, 6, 8, 10]),
        ([3, 197], [50, 100, 150]),
        ([-1, 1], [-1, -0.5, 0, 0.5, 1]),
        ([2, 2], [1, 1.5, 2, 2.5, 3]),
        ([5e-324], [-0.4, -0.2, 0, 0.2, 0.4]),
    ],
)
def test_ticks_are_round(values: list[float], ticks: list[float]) -> None:
    assert [round(tick, 9) for tick in Axis.over(values, 0, 1).ticks] == ticks


def test_what_falls_by_factors_is_shown_by_factors() -> None:
    axis = Axis.over([0.001, 10], 0, 100, may_be_log=True)
    assert axis.ticks == pytest.approx([0.001, 0.01, 0.1, 1, 10])
    assert axis.at(0.1) == pytest.approx(50)
    assert not Axis.over([0, 10], 0, 100, may_be_log=True).log


DRAWING = Drawing(
    60, 40, (Line(((5, 5), (55, 35)), "#0072b2", 2.0), Text(30, 30, "a < b & c", "middle"), Text(2, 12, "π"))
)


def test_svg_is_well_formed_whatever_the_words() -> None:
    root = ElementTree.fromstring(svg(DRAWING))
    assert root.attrib["viewBox"] == "0 0 60 40"
    assert [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")] == ["a < b & c", "π"]


def test_png_is_a_picture_of_that_size_with_something_in_it() -> None:
    image = pytest.importorskip("PIL.Image", reason="PNG needs Pillow").open(io.BytesIO(png(DRAWING)))
    assert (image.format, image.size) == ("PNG", (60, 40))
    red, _, blue = image.convert("RGB").getpixel((30, 20))
    assert blue > red + 60
    assert math.isclose(sum(image.convert("L").getpixel((58, 2)) for _ in range(1)), 255)


def test_png_without_pillow_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(UsageError, match="needs Pillow") as error:
        png(DRAWING)
    assert "[png]" in str(error.value)
