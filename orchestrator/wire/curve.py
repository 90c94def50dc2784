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
"""Of one curve: more than a picture shows."""
MOST_METRICS = 40
"""As many as SageMaker takes."""
MOST_ALTOGETHER = 1000
"""Points of one task: they lie in its result, which everybody reads who looks at the run."""

LONGEST_LINE = 2_000
"""Characters that a regex is let loose upon."""

_LINE = re.compile(r"\[sweep\]((?: [^\s=]+=[^\s=]+)+)")


def pattern(name: str) -> str:
    """The regex by which a platform finds a reported metric."""
    return rf"\[sweep\].* {re.escape(name)}=([-+0-9.e]+)"


def encode(curve: Curve) -> str:
    """Read back far faster than JSON's lists: who reads a hundred thousand results draws few of them."""
    return " ".join(f"{x:.15g}:{y:.6g}" for x, y in curve)


def decode(text: str) -> Curve:
    pairs = (word.partition(":") for word in text.split())
    return [(_whole(float(x)), float(y)) for x, _, y in pairs]


class Curves:
    """Every metric's points, thinned as they come: a log of any length leaves the same few."""

    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        """`known`: as an earlier look left them."""
        self._lines: dict[str, _Line] = {}
        self.diverged: set[str] = set()
        """Metrics whose newest value is no number: what they were before counts for nothing."""
        for name, text in (known or {}).items():
            for step, value in decode(text):
                self._line(name).add(step, value)

    def begin(self) -> None:
        """From here on it is a log from its beginning: what has no step is counted from 1 again."""
        for line in self._lines.values():
            line.counted = 0

    def read(self, lines: Iterable[str], regexes: Mapping[str, re.Pattern[str]]) -> None:
        for line in lines:
            reported = _LINE.search(line)
            if reported:
                words = dict(word.split("=") for word in reported[1].split())
                step = _number(words.pop("step", ""))
                for name, text in words.items():
                    self._take(name, step, text)
            else:
                for name, regex in regexes.items():
                    if found := regex.search(line, 0, LONGEST_LINE):
                        self._take(name, None, found[1])

    def _take(self, name: str, step: float | None, text: str | None) -> None:
        value = _number(text or "")
        if _has_run_away(text or ""):
            self.diverged.add(name)
        if value is not None and (name in self._lines or len(self._lines) < MOST_METRICS):
            self.diverged.discard(name)
            line = self._line(name)
            line.counted += 1
            line.add(line.counted if step is None else step, value)

    def _line(self, name: str) -> _Line:
        return self._lines.setdefault(name, _Line())

    @property
    def last(self) -> dict[str, float]:
        return {name: line.last[1] for name, line in self._lines.items() if name not in self.diverged}

    def encoded(self) -> dict[str, str]:
        """What is kept of them: steps rise, the first and the last are always there."""
        most = min(MOST_POINTS, MOST_ALTOGETHER // max(len(self._lines), 1))
        return {name: encode(line.thinned(most)) for name, line in self._lines.items()}


class _Line:
    """One curve: at first every point, then every second, every fourth, ..., and the last."""

    def __init__(self) -> None:
        self.last = (0.0, 0.0)
        self.counted = 0
        """Reports since the log's beginning."""
        self._kept: Curve = []
        self._stride = 1
        self._came = 0

    def add(self, step: float, value: float) -> None:
        """A training that goes on from a checkpoint lives some steps again: the second time counts."""
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
        """Evenly, by their order."""
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


def _has_run_away(text: str) -> bool:
    """As programs print it: `nan`, `-inf`."""
    return text.lstrip("+-").lower() in ("nan", "inf", "infinity")


def _whole(step: float) -> float:
    return int(step) if step == int(step) else step
