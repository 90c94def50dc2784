"""A picture as a value: lines and words at their places. `svg` and `png` write it down."""

from __future__ import annotations

from dataclasses import dataclass

INK, PALE = "#333333", "#cccccc"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f3c8d", "#000000")
"""Told apart by everybody, also by those who see fewer colours."""


@dataclass(frozen=True)
class Line:
    """A line through some points, in pixels from the upper left corner."""

    points: tuple[tuple[float, float], ...]
    colour: str = INK
    width: float = 1.0


@dataclass(frozen=True)
class Text:
    """Some words, in one line."""

    x: float
    y: float
    """The height of the line that the letters stand on."""
    text: str
    anchor: str = "start"
    """The part of the words that is at x: start, middle or end."""
    colour: str = INK
    size: int = 12


@dataclass(frozen=True)
class Drawing:
    """A picture of a size in pixels."""

    width: int
    height: int
    shapes: tuple[Line | Text, ...]
    """What is drawn. Later shapes lie on top of earlier ones."""
