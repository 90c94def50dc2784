"""A picture of what instances have cost: a line for each lane, the cheapest in colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.catalog.price_history import DAYS
from orchestrator.chart.drawing import COLOURS, PALE, Drawing, Line, Text
from orchestrator.chart.encode import encode
from orchestrator.chart.panel import TOP, Panel, Series
from orchestrator.errors import CatalogError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orchestrator.catalog.price_history import LanePrices

WIDTH, HEIGHT, LEGEND, MARGIN, ROW = 640, 320, 300, 16, 20


def draw_prices(found: Sequence[LanePrices], form: str) -> bytes:
    """Return what these lanes have cost, as `svg` or `png`. CatalogError where there is nothing to draw."""
    return encode(price_chart(found), form)


def price_chart(found: Sequence[LanePrices]) -> Drawing:
    """Return the chart of these lanes, which come cheapest first. CatalogError where there is nothing to draw."""
    drawn = [lane for lane in found if any(usd is not None for usd in lane.days)]
    if not drawn:
        raise CatalogError("there is no price of these days to draw", hint="`sweep catalog refresh` brings AWS's")
    panel = Panel("$ an hour, at the end of each day", "days from today", list(_series(drawn)))
    shapes = (*panel.shapes(0, MARGIN, WIDTH, HEIGHT), *_legend(drawn))
    rows = min(len(drawn), len(COLOURS)) + 1
    height = max(HEIGHT, TOP + rows * ROW) + 2 * MARGIN
    return Drawing(WIDTH + LEGEND + 2 * MARGIN, height, shapes)


def _series(lanes: Sequence[LanePrices]) -> Iterator[Series]:
    """Yield a line for each lane, the cheapest last: it lies on top."""
    for rank, lane in reversed(list(enumerate(lanes))):
        points = [(day - DAYS + 1.0, usd) for day, usd in enumerate(lane.days) if usd is not None]
        coloured = rank < len(COLOURS)
        yield Series(points, COLOURS[rank] if coloured else PALE, 2.0 if coloured else 1.0)


def _legend(lanes: Sequence[LanePrices]) -> Iterator[Line | Text]:
    x, y = WIDTH + 2 * MARGIN, MARGIN + TOP
    many = len({one.lane.platform for one in lanes}) > 1
    for rank, one in enumerate(lanes[: len(COLOURS)]):
        here, lane = y + rank * ROW, one.lane
        words = [*([lane.platform] if many else []), lane.region, lane.instance_type, lane.purchase.value]
        yield Line(((x, here), (x + 18, here)), COLOURS[rank], 2.0)
        yield Text(x + 26, here + 4, " ".join(words))
    if len(lanes) > len(COLOURS):
        here = y + len(COLOURS) * ROW
        yield Line(((x, here), (x + 18, here)), PALE)
        yield Text(x + 26, here + 4, f"{len(lanes) - len(COLOURS)} more")
