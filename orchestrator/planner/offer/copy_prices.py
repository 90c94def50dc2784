"""The cost and the hours of a copy of a dataset to another Region."""

from __future__ import annotations

import pandas as pd

from orchestrator.plan.tiers import tiered_usd

GB = 10**9
COPY_GB_PER_HOUR = 3600.0
"""A prior: GB that one copy between Regions moves in an hour."""
STORAGE_USD_PER_GB = 0.023
"""$ for a month, where nobody has told the price of a Region. So long a copy is kept."""

_PRICE = "transfer_usd_per_gb"
_FACTS = ("dataset", "region", "from_region", "s3_uri", "bytes")
COPIES = (*_FACTS, "usd", "hours")
"""Columns of a table of copies."""
COPY = ["dataset", "region", "from_region"]
"""What a copy is known by: what is copied, where to, and where from."""


def price_copies(candidates: pd.DataFrame, transfers: pd.DataFrame, storage: pd.DataFrame) -> pd.DataFrame:
    """Return a table of COPIES: a row for each dataset, each Region that it can come to, and each source."""
    kept: dict[str, list[tuple[float, float]]] = {}
    for region, start, price in sorted(storage.itertuples(index=False, name=None)):
        kept.setdefault(region, []).append((start, price))
    needing = candidates["from_region"].notna() & ~candidates.duplicated(COPY)
    wanted = candidates.loc[needing, [*_FACTS, _PRICE]]
    tiers: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for source, target, start, price in sorted(transfers.itertuples(index=False, name=None)):
        tiers.setdefault((source, target), []).append((start, price))
    rows = []
    for row in wanted.to_dict("records"):
        size, one_price = row["bytes"] / GB, [(0.0, row[_PRICE])]
        usd = tiered_usd(size, tiers.get((row["from_region"], row["region"]), one_price))
        usd += tiered_usd(size, kept.get(row["region"], [(0.0, STORAGE_USD_PER_GB)]))
        rows.append((*(row[name] for name in _FACTS), usd, size / COPY_GB_PER_HOUR))
    # Without rows, pandas would not know that these are numbers.
    return pd.DataFrame(rows, columns=list(COPIES)).astype({"usd": "float64", "hours": "float64"})


def drop_worse_copies(copies: pd.DataFrame) -> pd.DataFrame:
    """Return the copies without those that another source beats: at no higher cost it takes no more hours.

    Of equals, that of the first Region by name stays.
    """
    in_order = copies.sort_values(["dataset", "region", "usd", "hours", "from_region"], ignore_index=True)
    there = [in_order["dataset"], in_order["region"]]
    quickest_before = in_order.groupby(there)["hours"].cummin().groupby(there).shift()
    return in_order[~(in_order["hours"] >= quickest_before)].reset_index(drop=True)
