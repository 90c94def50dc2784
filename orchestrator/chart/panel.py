"""One chart: series of points under a title, with axes that have round numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.chart.drawing import INK, PALE, Line, Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LEFT, TOP, BOTTOM = 70, 36, 46
"""Pixels around the axes, for the numbers and the titles."""
TICKS = 5
STEEP = 100
"""The upward axis is logarithmic from this ratio of its largest to its smallest value on."""
LEAST = 1e-300
"""Numbers that are nearer to each other count as one: what lies between them is too small to be divided."""


@dataclass(frozen=True)
class Series:
    """Points that one line connects."""

    points: Sequence[tuple[float, float]]
    colour: str = PALE
    width: float = 1.0


@dataclass(frozen=True)
class Panel:
    """One chart."""

    title: str
    below: str
    """The title of the horizontal axis."""
    series: Sequence[Series]

    def shapes(self, x: float, y: float, width: float, height: float) -> Iterator[Line | Text]:
        """Yield the lines and words of this chart, drawn into this rectangle."""
        across, up = self.axes(x, y, width, height)
        yield Text(x + LEFT, y + TOP - 14, self.title, size=14)
        yield Text(x + width, y + height - BOTTOM + 34, self.below, "end")
        for value in up.ticks:
            yield Line(((across.start, up.at(value)), (across.stop, up.at(value))), "#eeeeee")
            yield Text(across.start - 8, up.at(value) + 4, f"{value:.4g}", "end")
        for value in across.ticks:
            yield Line(((across.at(value), up.start), (across.at(value), up.start + 4)))
            yield Text(across.at(value), up.start + 18, f"{value:.6g}", "middle")
        yield Line(((across.start, up.stop), (across.start, up.start), (across.stop, up.start)), INK)
        for each in self.series:
            points = [(across.at(px), up.at(py)) for px, py in each.points]
            if len(points) == 1:  # a point alone is a dash
                points = [(points[0][0] - 3, points[0][1]), (points[0][0] + 3, points[0][1])]
            yield Line(tuple(points), each.colour, each.width)

    def axes(self, x: float, y: float, width: float, height: float) -> tuple[Axis, Axis]:
        """Return the horizontal and the vertical axis, for this rectangle."""
        across = [px for each in self.series for px, _ in each.points]
        up = [py for each in self.series for _, py in each.points]
        return Axis.over(across, x + LEFT, x + width), Axis.over(up, y + height - BOTTOM, y + TOP, may_be_log=True)


@dataclass(frozen=True)
class Axis:
    """A scale from numbers to pixels."""

    low: float
    high: float
    start: float
    """The pixel of the lowest number."""
    stop: float
    """The pixel of the highest number."""
    log: bool
    """True if equal factors are equally far apart."""

    @classmethod
    def over(cls, values: Sequence[float], start: float, stop: float, *, may_be_log: bool = False) -> Axis:
        """Return an axis from the lowest to the highest of the values. One value alone is in its middle."""
        low, high = min(values), max(values)
        log = may_be_log and low > 0 and high / low > STEEP
        if high - low < LEAST:
            margin = abs(low) / 2 if abs(low) >= LEAST else 0.5
            low, high = low - margin, high + margin
        return cls(low, high, start, stop, log)

    def at(self, value: float) -> float:
        """Return the pixel of a number."""
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return self.start + (value - low) / (high - low) * (self.stop - self.start)

    @property
    def ticks(self) -> list[float]:
        """The round numbers that are written beside the axis."""
        if self.log:
            powers = range(math.ceil(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)
            return [10.0**power for power in powers][:: math.ceil(len(powers) / TICKS)]
        step = _round((self.high - self.low) / TICKS)
        lowest, highest = math.ceil(self.low / step), math.floor(self.high / step)
        return [number * step for number in range(lowest, highest + 1)]


def _round(value: float) -> float:
    """Return the next larger number of 1, 2, 5, 10, 20, ..."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= value * (1 - 1e-9))
