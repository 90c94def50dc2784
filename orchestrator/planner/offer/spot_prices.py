"""The expected price of an hour of spot, and how often it is interrupted: the catalog's word, and what ours saw.

Where nobody publishes a price, the bill says it once the job is done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.hours.interruptions import INTERRUPTIONS_PER_HOUR
from orchestrator.planner.hours.lane_times import pinned
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    import pandas as pd

    from orchestrator.catalog.market import Market, Seen
    from orchestrator.planner.model.arrays import Floats

PRIOR_HOURS = 240.0
"""Hours of our own finished tasks that weigh as much as the price in the catalog. A first small run changes little."""
LISTED = "listed_usd_per_hour"
"""The column of what the catalog says."""
_LANE = ["platform", "region", "instance_type"]


def as_learned(market: Market) -> pd.DataFrame:
    """Return a Market's candidates with spot as learned: its price, and how often it is interrupted."""
    priced = price_spot(market.candidates, market.discounts, market.seen)
    return priced.assign(interruptions_per_hour=learned_interruptions(priced, market.seen))


def price_spot(candidates: pd.DataFrame, discounts: pd.DataFrame, seen: Seen) -> pd.DataFrame:
    """Return a Market's candidates with spot at the price that its discounts suggest, and the catalog's as LISTED.

    A candidate whose discount is not known keeps its price, and one that a person has pinned has that. What is billed
    is never more than the on-demand price, so the expected price is not either.
    """
    listed = candidates.assign(**{LISTED: candidates["usd_per_hour"]})
    if discounts.empty and seen.pins.empty:
        return listed
    own = candidates[_LANE].merge(discounts, on=_LANE, how="left")
    hours = own["hours"].to_numpy(dtype=np.float64)
    paid = own["usd_per_hour"].to_numpy(dtype=np.float64)
    catalog = candidates["usd_per_hour"].to_numpy(dtype=np.float64)
    on_demand = candidates["on_demand_usd_per_hour"].to_numpy(dtype=np.float64)
    blended = pinned(candidates, seen, "price", blend_price(catalog, on_demand, hours, paid))
    spot = (candidates["purchase"] == Purchase.SPOT.value).to_numpy()
    learned = spot & np.isfinite(blended)
    return listed.assign(usd_per_hour=np.where(learned, np.minimum(blended, on_demand), catalog))


def blend_price(catalog: Floats, on_demand: Floats, hours: Floats, paid: Floats) -> Floats:
    """Return the expected $ of an hour: the catalog's, and what so many hours of ours have cost; nan without any."""
    return np.asarray((hours * paid + PRIOR_HOURS * np.minimum(catalog, on_demand)) / (hours + PRIOR_HOURS))


def learned_interruptions(candidates: pd.DataFrame, seen: Seen) -> Floats:
    """Return the interruptions an hour of spot candidates: the catalog's, or the prior, and what ours have seen.

    It is nan where nobody knows any, and of what is no spot.
    """
    catalog = candidates["interruptions_per_hour"].to_numpy(dtype=np.float64)
    spot = (candidates["purchase"] == Purchase.SPOT.value).to_numpy()
    learned = catalog
    if len(seen.interrupted):
        own = candidates[_LANE].merge(seen.interrupted, on=_LANE, how="left")
        hours, times = (own[name].to_numpy(dtype=np.float64) for name in ("hours", "times"))
        blended = blend_interruptions(np.nan_to_num(catalog, nan=INTERRUPTIONS_PER_HOUR), hours, times)
        learned = np.where(spot & np.isfinite(blended), blended, catalog)
    return np.where(spot, pinned(candidates, seen, "interruptions", learned), catalog)


def blend_interruptions(prior: Floats, hours: Floats, times: Floats) -> Floats:
    """Return the interruptions an hour: those of the prior, and those that so many hours of ours have seen."""
    return np.asarray((times + PRIOR_HOURS * prior) / (hours + PRIOR_HOURS))
