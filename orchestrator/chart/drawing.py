"""A picture as a value: lines and words at their places, which `svg` and `png` write down."""

from __future__ import annotations

from dataclasses import dataclass

INK, PALE = "#333333", "#cccccc"


@dataclass(frozen=True)
class Line:
    points: tuple[tuple[float, float], ...]
    colour: str = INK
    width: float = 1.0


@dataclass(frozen=True)
class Text:
    x: float
    y: float
    """Of the line that letters stand on."""
    text: str
    anchor: str = "start"
    """start, middle or end: which part of the words is at x."""
    colour: str = INK
    size: int = 12


@dataclass(frozen=True)
class Drawing:
    width: int
    height: int
    shapes: tuple[Line | Text, ...]
    """The later ones lie on top."""
