"""Chooses which site of a place is asked next, such as a zone: the refusal of one says nothing of the others. Pure.

All sites of a place are asked before the place counts as refused: that costs nothing, and the next place may lie in
another Region. Patience and waiting are for whole *rounds*.
"""

from __future__ import annotations

from collections import Counter
from itertools import takewhile
from typing import TYPE_CHECKING

from orchestrator.wire.result import Cause

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.launcher.tried import Tried


def choose_site(sites: Sequence[str], place: int, tried: Sequence[Tried]) -> str:
    """Return which of a place's sites is asked next, of these in their order; empty if it has none.

    It is one that has refused least often in the refusals that go on. Of these it is one that has taken machines away
    least often, and of these the first.
    """
    refused = Counter(one.attempt.site for one in _refusals(tried) if one.attempt.place == place)
    lost = Counter(one.attempt.site for one in tried if one.outcome.cause is Cause.INTERRUPTED)
    return min(sites, key=lambda site: (refused[site], lost[site]), default="")


def count_rounds(sites: Sequence[str], tried: Sequence[Tried]) -> int:
    """Return how often the place that was tried last has refused in a row: all its sites did, if it has some."""
    refused = _refusals(tried)
    if not sites:
        return len(refused)
    return min(_by_site(sites, refused).values())


def is_in_a_round(sites: Sequence[str], tried: Sequence[Tried]) -> bool:
    """Return whether some of these sites, of the place that was tried last, are still to be asked in this round."""
    return len(set(_by_site(sites, _refusals(tried)).values())) > 1


def before_the_round(sites: Sequence[str], tried: Sequence[Tried]) -> Sequence[Tried]:
    """Return what was tried without the refusals of a round that is not over: they say nothing of the place yet."""
    refused = _refusals(tried)
    begun = len(refused) - count_rounds(sites, tried) * len(sites)
    return tried[: len(tried) - begun] if is_in_a_round(sites, tried) else tried


def _by_site(sites: Sequence[str], refused: Sequence[Tried]) -> dict[str, int]:
    counts = Counter(one.attempt.site for one in refused)
    return {site: counts[site] for site in sites}


def _refusals(tried: Sequence[Tried]) -> list[Tried]:
    """Return the last attempts if they were all refused at one place, newest first."""

    def goes_on(one: Tried) -> bool:
        return one.attempt.place == tried[-1].attempt.place and one.outcome.cause is Cause.CAPACITY

    return list(takewhile(goes_on, reversed(tried)))
