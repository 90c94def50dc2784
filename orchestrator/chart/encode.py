"""A drawing as a file's bytes, in the form that its reader wants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.chart.png import png
from orchestrator.chart.svg import svg

if TYPE_CHECKING:
    from orchestrator.chart.drawing import Drawing


def encode(drawing: Drawing, form: str) -> bytes:
    """Return the drawing as `svg` or `png`."""
    return png(drawing) if form == "png" else svg(drawing)
