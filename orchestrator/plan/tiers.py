"""Prices in tiers: the first gigabytes have one price, and the next have the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def tiered_usd(size: float, tiers: Sequence[tuple[float, float]]) -> float:
    """Return the $ of moving or keeping `size` GB, each part at the price of its tier (from GB, $/GB).

    So more data never costs less.
    """
    ends = [*(start for start, _ in tiers[1:]), float("inf")]
    return sum(max(min(size, end) - start, 0.0) * price for (start, price), end in zip(tiers, ends, strict=True))
