"""What it costs to copy a dataset to another Region, and how long it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Sequence

GB = 10**9
GB_PER_HOUR = 3600.0
"""Of one copy between Regions: a prior."""
STORAGE_USD_PER_GB = 0.023
"""A copy is kept for a month."""

_PRICE = "transfer_usd_per_gb"
COPIES = ("dataset", "region", "from_region", "s3_uri", "bytes", "usd", "hours")


def copies(candidates: pd.DataFrame, transfers: pd.DataFrame) -> pd.DataFrame:
    """COPIES: one row for each dataset and Region that a candidate would bring it to."""
    wanted = candidates[candidates["from_region"].notna()].drop_duplicates(["dataset", "region"])
    tiers: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for source, target, start, price in sorted(transfers.itertuples(index=False, name=None)):
        tiers.setdefault((source, target), []).append((start, price))
    rows = [
        (
            *(row[name] for name in COPIES[:5]),
            egress(row["bytes"] / GB, tiers.get((row["from_region"], row["region"])) or [(0.0, row[_PRICE])])
            + row["bytes"] / GB * STORAGE_USD_PER_GB,
            row["bytes"] / GB / GB_PER_HOUR,
        )
        for row in wanted.to_dict("records")
    ]
    return pd.DataFrame(rows, columns=list(COPIES))


def egress(size: float, tiers: Sequence[tuple[float, float]]) -> float:
    """$ of `size` GB: each part at the price of its tier (from GB, $/GB), so that more never costs less."""
    ends = [start for start, _ in tiers[1:]] + [float("inf")]
    return sum(max(min(size, end) - start, 0.0) * price for (start, price), end in zip(tiers, ends, strict=True))
