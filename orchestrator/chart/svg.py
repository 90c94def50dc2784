"""Writes a drawing as SVG, which browsers, editors and reports show."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from orchestrator.chart.drawing import Line
from orchestrator.files import DRAWN_BY_US

if TYPE_CHECKING:
    from orchestrator.chart.drawing import Drawing, Text


def svg(drawing: Drawing) -> bytes:
    """Return the drawing as an SVG file."""
    shapes = "\n".join(_line(shape) if isinstance(shape, Line) else _text(shape) for shape in drawing.shapes)
    text = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {drawing.width} {drawing.height}" '
        f'width="{drawing.width}" height="{drawing.height}" font-family="sans-serif">\n'
        f"<desc>{DRAWN_BY_US}</desc>\n"
        f'<rect width="100%" height="100%" fill="white"/>\n{shapes}\n</svg>\n'
    )
    return text.encode()


def _line(line: Line) -> str:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in line.points)
    return f'<polyline points="{points}" fill="none" stroke="{line.colour}" stroke-width="{line.width}"/>'


def _text(text: Text) -> str:
    at = f'x="{text.x:.1f}" y="{text.y:.1f}" text-anchor="{text.anchor}" fill="{text.colour}" font-size="{text.size}"'
    return f"<text {at}>{escape(text.text)}</text>"
