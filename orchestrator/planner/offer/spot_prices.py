"""The expected price of an hour of spot. Where nobody publishes one, the bill says it once the job is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    import pandas as pd

PRIOR_HOURS = 240.0
"""Hours of our own finished tasks that weigh as much as the price in the catalog. A first small run changes little."""
LISTED = "listed_usd_per_hour"
"""The column of what the catalog says."""
_LANE = ["platform", "region", "instance_type"]


def price_spot(candidates: pd.DataFrame, discounts: pd.DataFrame) -> pd.DataFrame:
    """Return a Market's candidates with spot at the price that its discounts suggest, and the catalog's as LISTED.

    A candidate whose discount is not known keeps its price. What is billed is never more than the on-demand price, so
    the expected price is not either.
    """
    listed = candidates.assign(**{LISTED: candidates["usd_per_hour"]})
    if discounts.empty:
        return listed
    own = candidates[_LANE].merge(discounts, on=_LANE, how="left")
    hours = own["hours"].to_numpy(dtype=np.float64)
    paid = own["usd_per_hour"].to_numpy(dtype=np.float64)
    catalog = candidates["usd_per_hour"].to_numpy(dtype=np.float64)
    on_demand = candidates["on_demand_usd_per_hour"].to_numpy(dtype=np.float64)
    blended = (hours * paid + PRIOR_HOURS * np.minimum(catalog, on_demand)) / (hours + PRIOR_HOURS)
    spot = (candidates["purchase"] == Purchase.SPOT.value).to_numpy()
    learned = spot & np.isfinite(blended)
    return listed.assign(usd_per_hour=np.where(learned, np.minimum(blended, on_demand), catalog))
