"""What instances have cost, as a picture: days across, dollars up, the cheapest in colour."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from orchestrator.catalog.price_chart import price_chart
from orchestrator.catalog.price_history import DAYS, LanePrices
from orchestrator.chart.drawing import COLOURS, PALE, Drawing, Line, Text
from orchestrator.errors import CatalogError
from orchestrator.wire.task import Lane, Purchase

NOW = datetime(2026, 11, 22, tzinfo=timezone.utc)


def cost(number: int, *last: float, platform: str = "sagemaker") -> LanePrices:
    """A lane of its own, that has cost this on the last days and was not known before."""
    lane = Lane(platform, f"eu-west-{number}", "ml.g5.xlarge", Purchase.SPOT)
    return LanePrices(lane, last[-1] if last else 1.0, NOW, (*[None] * (DAYS - len(last)), *last))


def lines(drawing: Drawing, colour: str) -> list[Line]:
    return [one for one in drawing.shapes if isinstance(one, Line) and one.colour == colour]


def words(drawing: Drawing) -> list[str]:
    return [one.text for one in drawing.shapes if isinstance(one, Text)]


def test_a_lane_is_a_line_with_a_point_for_each_day_that_is_known() -> None:
    drawing = price_chart([cost(1, 1.0, 1.0, 2.0), cost(2, 3.0, 3.0, 3.0)])
    first, _ = lines(drawing, COLOURS[0])
    assert len(first.points) == 3
    (_, one), (_, same), (_, dearer) = first.points
    assert one == same > dearer  # pixels count downwards
    assert "eu-west-1 ml.g5.xlarge spot" in words(drawing)
    assert "days from today" in words(drawing)


def test_the_cheapest_have_colours_and_lie_on_top_of_the_others() -> None:
    count = len(COLOURS) + 3
    drawing = price_chart([cost(number, float(number), number + 1.0) for number in range(1, count + 1)])
    assert [len(lines(drawing, colour)) for colour in COLOURS] == [2] * len(COLOURS)
    assert len(lines(drawing, PALE)) == 3 + 1
    assert "3 more" in words(drawing)
    drawn = [one for one in drawing.shapes if isinstance(one, Line) and len(one.points) == 2 and one.width == 2.0]
    assert drawn[len(COLOURS) - 1].colour == COLOURS[0]


def test_platforms_are_told_apart_where_there_are_several() -> None:
    assert "ec2 eu-west-2 ml.g5.xlarge spot" in words(price_chart([cost(1, 1.0), cost(2, 1.0, platform="ec2")]))
    assert "ec2 eu-west-2 ml.g5.xlarge spot" not in words(price_chart([cost(2, 1.0, platform="ec2")]))


def test_a_lane_that_has_no_price_yet_by_our_clock_is_left_out() -> None:
    assert "eu-west-2 ml.g5.xlarge spot" not in words(price_chart([cost(1, 1.0), cost(2)]))
    with pytest.raises(CatalogError, match="no price of these days to draw"):
        price_chart([cost(2)])
