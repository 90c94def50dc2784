"""One chart: series of points under a title, on axes with round numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.chart.drawing import INK, PALE, Line, Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LEFT, TOP, BOTTOM = 70, 36, 46
"""Room for the numbers and the titles around the axes."""
TICKS = 5
STEEP = 100
"""From this ratio of the largest to the smallest on, equal factors are equally far apart."""


@dataclass(frozen=True)
class Series:
    points: Sequence[tuple[float, float]]
    colour: str = PALE
    width: float = 1.0


@dataclass(frozen=True)
class Panel:
    title: str
    below: str
    """What the horizontal axis counts."""
    series: Sequence[Series]

    def shapes(self, x: float, y: float, width: float, height: float) -> Iterator[Line | Text]:
        """Within this rectangle."""
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
        """The one across and the one up, within this rectangle."""
        across = [px for each in self.series for px, _ in each.points]
        up = [py for each in self.series for _, py in each.points]
        return Axis.over(across, x + LEFT, x + width), Axis.over(up, y + height - BOTTOM, y + TOP, steep=True)


@dataclass(frozen=True)
class Axis:
    """From numbers to places. `log`: equal factors are equally far apart."""

    low: float
    high: float
    start: float
    stop: float
    log: bool

    @classmethod
    def over(cls, values: Sequence[float], start: float, stop: float, *, steep: bool = False) -> Axis:
        low, high = min(values), max(values)
        log = steep and low > 0 and high / low > STEEP
        if low == high:
            low, high = low - (abs(low) or 1) / 2, high + (abs(high) or 1) / 2
        return cls(low, high, start, stop, log)

    def at(self, value: float) -> float:
        low, high, here = (math.log(v) for v in (self.low, self.high, value)) if self.log else self._plain(value)
        return self.start + (here - low) / (high - low) * (self.stop - self.start)

    def _plain(self, value: float) -> tuple[float, float, float]:
        return self.low, self.high, value

    @property
    def ticks(self) -> list[float]:
        if self.log:
            powers = range(math.ceil(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)
            return [10.0**power for power in powers][:: math.ceil(len(powers) / TICKS)]
        step = _round((self.high - self.low) / TICKS)
        first = math.ceil(self.low / step)
        return [number * step for number in range(first, math.floor(self.high / step) + 1)]


def _round(value: float) -> float:
    """The next larger of 1, 2, 5, 10, 20, ..."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= value * (1 - 1e-9))
