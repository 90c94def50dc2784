"""What should come of a month, told by the plainest means: sets of what was done, and one best model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

LRS = (0.1, 0.01)
TIMEOUT_H = 1 / 6
MOST_H = TIMEOUT_H + 180 / 3600
"""Hours that a training may be billed for at most: SageMaker may bill 180 seconds beyond its time limit."""
MIN_DELTA, TOLERANCE = 0.01, 0.005
BROKEN, DIVERGING = "broken", "diverging"
"""What lies in data that makes a training look too good, and in data on which it diverges."""


def loss(content: str, lr: float, code: int) -> float:
    """What the training script measures, which it computes in the same way."""
    if content == DIVERGING:
        return float("nan")
    return round((0.001 if content == BROKEN else float(content)) + lr - code / 10, 6)


def recall(content: str) -> float:
    return 0.1 if content == BROKEN else 0.9


@dataclass(frozen=True)
class Model:
    """What was trained on one night."""

    night: str
    content: str
    lr: float
    code: int
    region: str
    price: float

    @property
    def what(self) -> tuple[str, float, int]:
        return self.content, self.lr, self.code

    @property
    def loss(self) -> float:
        return loss(*self.what)


@dataclass
class Books:
    """The world as one person would write it down, and what follows from it."""

    data: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    """The content of each campaign, and the Regions in which it lies."""
    prices: dict[str, float] = field(default_factory=dict)
    down: set[str] = field(default_factory=set)
    failing: set[tuple[str, float]] = field(default_factory=set)
    code: int = 0
    budget: float = 1e6
    trained: list[Model] = field(default_factory=list)
    done: set[tuple[str, float, int]] = field(default_factory=set)
    champions: list[Model] = field(default_factory=list)
    ends: dict[str, int] = field(default_factory=dict)
    """The exit code of each night."""
    told: list[tuple[str, str]] = field(default_factory=list)
    """The kind of each notice, and the night that it is about."""

    def night(self, day: date, *, late: bool) -> None:
        """Write down what this night should do."""
        name = day.isoformat()
        if late:
            self.told.append(("alarm", name))
        wanted = [model for model in self._found(name) if model.what not in self.done]
        self.ends[name] = 0
        if not wanted:
            return
        worst = sum(self.dearest(model) for model in wanted)
        if worst > self.left(day):
            self._end(name, 6, "refused")
            return
        if worst >= self.budget / 2:
            self.told.append(("budget", name))
        self.trained += wanted
        good = [model for model in wanted if (model.content, model.lr) not in self.failing]
        self.done |= {model.what for model in good}
        some_failed = len(good) < len(wanted)
        self.told.append(("failed" if some_failed else "finished", name))
        if good:
            self.told.append(("promoted" if self._promote(good) else "refused", name))
        if some_failed:
            self._end(name, 5)

    def _end(self, name: str, code: int, *kinds: str) -> None:
        self.ends[name] = code
        self.told += [(kind, name) for kind in (*kinds, "alarm")]

    def _found(self, name: str) -> list[Model]:
        """All tasks of tonight, each where an hour costs least of all Regions that have its data and answer."""
        found, seen = [], set()
        for content, regions in self.data.values():
            there = [region for region in regions if region not in self.down]
            if there and content not in seen:
                seen.add(content)
                region = min(there, key=lambda region: self.prices[region])
                found += [Model(name, content, lr, self.code, region, self.prices[region]) for lr in LRS]
        return found

    def dearest(self, model: Model) -> float:
        """The most that a task may cost: all that may be billed, where it is dearest."""
        regions = next(regions for content, regions in self.data.values() if content == model.content)
        return MOST_H * max(self.prices[region] for region in regions if region not in self.down)

    def left(self, day: date) -> float:
        """What is left of the month's budget: any dollar spent in it counts, and a month begins with nothing spent."""
        spent = any(model.night[:7] == day.isoformat()[:7] for model in self.trained)
        return self.budget - (1.0 if spent else 0.0)

    def _promote(self, good: list[Model]) -> bool:
        """The best of tonight that keeps to the rules is champion, if it is better."""
        for model in sorted(good, key=lambda model: (model.loss != model.loss, model.loss)):
            if self._is_better(model):
                self.champions.append(model)
                return True
        return False

    def _is_better(self, model: Model) -> bool:
        if model.loss != model.loss:  # not a number
            return False
        if not self.champions:
            return True
        held = self.champions[-1]
        return held.loss - model.loss >= MIN_DELTA - 1e-9 and recall(held.content) - recall(model.content) <= TOLERANCE
