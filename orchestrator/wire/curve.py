"""What a training's log tells of its metrics: the last value of each, and its learning curve in few points.

A training reports in lines such as `[sweep] step=3 loss=0.25`, as `orchestrator.training.report` prints them, with
whatever a launcher puts before. Metrics that have a regex are looked for in every other line; their steps are counted.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Curve = list[tuple[float, float]]

MOST_POINTS = 200
"""Points that are kept of one curve: more than a picture shows."""
MOST_METRICS = 40
"""Metrics that are kept of one task: as many as SageMaker takes."""
MOST_POINTS_OF_TASK = 1000
"""Points that are kept of all curves of a task: they lie in its result, which whoever looks at the run reads."""

LONGEST_LINE = 2_000
"""Characters of a line that a user's regex may search: on an endless line it might never end."""

_NOT_FINITE = re.compile(r"(?<![\w.])[-+]?(nan|inf|infinity)(?![\w.])", re.IGNORECASE)
_STAND_IN = "31415926"
"""The number that stands for what is none, to see whether a regex would find it: any that no log has there."""
_REPORTED = re.compile(r"\[sweep\]((?: [^\s=]+=[^\s=]+)+)")


def report_pattern(name: str) -> str:
    """Return the regex by which a platform finds a metric in the lines that `report` prints."""
    return rf"\[sweep\].* {re.escape(name)}=([-+0-9.e]+)"


def encode(curve: Curve) -> str:
    """Return the curve as one line of text.

    It is read far faster than JSON's lists: whoever reads a hundred thousand results draws few of their curves.
    """
    return " ".join(f"{x:.15g}:{y:.6g}" for x, y in curve)


def decode(text: str) -> Curve:
    """Return the curve that `encode` wrote; an empty one for a text that it cannot have written."""
    pairs = (word.partition(":") for word in text.split())
    try:
        return [(_whole(float(x)), float(y)) for x, _, y in pairs]
    except (ValueError, OverflowError):
        return []


class Curves:
    """The curves of all metrics of a task, thinned as they grow: a log of any length leaves the same few points."""

    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        """Begin with the curves that an earlier reader has left, encoded."""
        self._points: dict[str, _Points] = {}
        self.diverged: set[str] = set()
        """Metrics whose newest value is not finite: what they were before counts for nothing."""
        self.not_finite: set[str] = set()
        """Metrics whose newest value in the log that is being read is not finite."""
        for name, text in (known or {}).items():
            for step, value in decode(text):
                self._points_of(name).add(step, value)

    def begin_log(self) -> None:
        """Count reports without a step from 1 again. Call it before a log is read from its beginning."""
        self.not_finite.clear()
        for points in self._points.values():
            points.counted = 0

    def read(self, lines: Iterable[str], regexes: Mapping[str, re.Pattern[str]]) -> None:
        """Add what these lines of a log report. Metrics with a regex are sought in all lines but `report`'s."""
        for line in lines:
            reported = _REPORTED.search(line)
            if reported:
                words = dict(word.split("=") for word in reported[1].split())
                step = _number(words.pop("step", ""))
                for name, text in words.items():
                    self._take(name, step, text)
            else:
                for name, regex in regexes.items():
                    found = regex.search(line, 0, LONGEST_LINE)
                    text = (found and found[1]) or ""
                    if _number(text) is None and _would_match(regex, line):
                        text = "nan"
                    self._take(name, None, text)

    def _take(self, name: str, step: float | None, text: str) -> None:
        value = _number(text)
        if _is_not_finite(text):
            self.diverged.add(name)
            self.not_finite.add(name)
        if value is not None and (name in self._points or len(self._points) < MOST_METRICS):
            self.diverged.discard(name)
            self.not_finite.discard(name)
            points = self._points_of(name)
            points.counted += 1
            points.add(points.counted if step is None else step, value)

    def _points_of(self, name: str) -> _Points:
        return self._points.setdefault(name, _Points())

    @property
    def last(self) -> dict[str, float]:
        """The newest value of each metric, without those that have diverged."""
        return {name: points.last[1] for name, points in self._points.items() if name not in self.diverged}

    def encoded(self) -> dict[str, str]:
        """Return the curves by metric, encoded. Their steps rise, and the first and the last point are always there."""
        most = min(MOST_POINTS, MOST_POINTS_OF_TASK // max(len(self._points), 1))
        return {name: encode(points.thinned(most)) for name, points in self._points.items()}


class _Points:
    """The points that are kept of one curve: at first all, then every second, then every fourth; always the last."""

    def __init__(self) -> None:
        self.last = (0.0, 0.0)
        self.counted = 0
        """Reports of this metric since the log's beginning."""
        self._kept: Curve = []
        self._stride = 1
        self._came = 0

    def add(self, step: float, value: float) -> None:
        """Add a point. A training that goes on from a checkpoint lives some steps again: the second time counts."""
        while self._kept and self._kept[-1][0] >= step:
            self._kept.pop()
        self.last = (step, value)
        if self._came % self._stride == 0 or not self._kept:
            self._kept.append(self.last)
        self._came += 1
        if len(self._kept) > 2 * MOST_POINTS:
            self._kept = self._kept[::2]
            self._stride *= 2

    def thinned(self, most: int) -> Curve:
        """Return so many points at most, evenly chosen by their order."""
        points = self._kept if self._kept[-1] == self.last else [*self._kept, self.last]
        if len(points) <= most:
            return points
        return [points[round(index * (len(points) - 1) / (most - 1))] for index in range(most)]


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _is_not_finite(text: str) -> bool:
    """Return whether the text is `nan`, `-inf` or the like, as programs print them."""
    return text.lstrip("+-").lower() in ("nan", "inf", "infinity")


def _would_match(regex: re.Pattern[str], line: str) -> bool:
    """Return whether a regex that is made for numbers alone, as most are, would find one where the line has `nan`."""
    words = _NOT_FINITE.subn(_STAND_IN, line[:LONGEST_LINE])
    found = regex.search(words[0], 0, LONGEST_LINE) if words[1] else None
    return found is not None and found[1] == _STAND_IN


def _whole(step: float) -> float:
    return int(step) if step == int(step) else step
