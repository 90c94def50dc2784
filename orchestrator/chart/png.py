"""Writes a drawing as PNG. It needs Pillow, an extra, for most pictures are as good as SVG."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from orchestrator.chart.drawing import Line
from orchestrator.errors import UsageError
from orchestrator.files import DRAWN_BY_US

if TYPE_CHECKING:
    from orchestrator.chart.drawing import Drawing

FINER = 3
"""A picture is drawn so many times larger, and then made smaller: Pillow's own lines have steps."""
_ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}


def png(drawing: Drawing) -> bytes:
    """Return the drawing as a PNG file. Raise UsageError if Pillow is not installed."""
    try:
        from PIL import Image, ImageDraw, ImageFont, PngImagePlugin
    except ImportError as error:
        hint = "pip install 'sweep-orchestrator[png]', or name a .svg file"
        raise UsageError("a PNG needs Pillow, which is not installed", hint=hint) from error

    image = Image.new("RGB", (drawing.width * FINER, drawing.height * FINER), "white")
    pen = ImageDraw.Draw(image)
    for shape in drawing.shapes:
        if isinstance(shape, Line):
            points = [(x * FINER, y * FINER) for x, y in shape.points]
            pen.line(points, fill=shape.colour, width=round(shape.width * FINER), joint="curve")
        else:
            font = ImageFont.load_default(shape.size * FINER)
            at = (shape.x * FINER, shape.y * FINER)
            pen.text(at, shape.text, fill=shape.colour, font=font, anchor=_ANCHORS[shape.anchor])
    # The mean of each square: where a shape is wider than a square, its colour stays what it is in the SVG.
    smaller = image.resize((drawing.width, drawing.height), Image.Resampling.BOX)
    body = io.BytesIO()
    ours = PngImagePlugin.PngInfo()
    ours.add_text("Software", DRAWN_BY_US)
    smaller.save(body, "PNG", optimize=True, pnginfo=ours)
    return body.getvalue()
