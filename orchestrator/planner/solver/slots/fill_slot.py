"""Fills one slot with whole tasks, so that they are worth as much as can be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.planner.model.arrays import SLACK

if TYPE_CHECKING:
    from collections.abc import Sequence

TRIES = 400
"""Steps of the search for one slot."""
NEAR = 2e-4
"""The part of the most that a slot could be worth, if tasks were fluid, which a filling may lack to be good enough."""


@dataclass(frozen=True)
class Kind:
    """Tasks that a slot may take."""

    value: float
    """What one of them is worth. It is above 0."""
    hours: float
    most: int
    """The number of such tasks that there are."""


def fill_slot(kinds: Sequence[Kind], until: float) -> tuple[list[int], float]:
    """Return how many tasks of each kind to put into a slot that is open for so long, and what they are worth.

    `kinds` come in the order of value per hour, the best first. The search tries the best first, as many as fit.
    """
    last = len(kinds)
    worth_per_hour = [kind.value / kind.hours for kind in kinds]
    enough = worth_per_hour[0] * until * (1 - NEAR)
    best, best_value, tries = [0] * last, 0.0, TRIES
    counts = [0] * last

    def extend(number: int, room: float, value: float) -> bool:
        """Try the kinds from this one on. Return whether the search goes on."""
        nonlocal best, best_value, tries
        tries -= 1
        if value > best_value:
            best, best_value = counts.copy(), value
        if tries < 0 or best_value >= enough:
            return False
        if number == last or value + worth_per_hour[number] * room <= best_value:
            return True
        kind = kinds[number]
        most = min(int(room / kind.hours), kind.most)
        for count in range(most, -1, -1):
            counts[number] = count
            if not extend(number + 1, room - count * kind.hours, value + count * kind.value):
                counts[number] = 0
                return False
        counts[number] = 0
        return True

    extend(0, until * SLACK, 0.0)
    return best, best_value
