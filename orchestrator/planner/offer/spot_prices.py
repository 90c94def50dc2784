"""The expected price of an hour of spot. Where nobody publishes one, the bill says it once the job is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    import pandas as pd

PRIOR_TASKS = 10.0
"""Finished tasks of our own that weigh as much as the price in the catalog."""
_LANE = ["platform", "region", "instance_type"]


def price_spot(candidates: pd.DataFrame, discounts: pd.DataFrame) -> pd.DataFrame:
    """Return a Market's candidates with spot at the price that its discounts suggest.

    A candidate whose discount is not known keeps its price. What is billed is never more than the on-demand price, so
    the expected price is not either.
    """
    if discounts.empty:
        return candidates.copy(deep=False)
    own = candidates[_LANE].merge(discounts, on=_LANE, how="left")
    tasks = own["tasks"].to_numpy(dtype=np.float64)
    paid = own["usd_per_hour"].to_numpy(dtype=np.float64)
    catalog = candidates["usd_per_hour"].to_numpy(dtype=np.float64)
    on_demand = candidates["on_demand_usd_per_hour"].to_numpy(dtype=np.float64)
    blended = (tasks * paid + PRIOR_TASKS * np.minimum(catalog, on_demand)) / (tasks + PRIOR_TASKS)
    spot = (candidates["purchase"] == Purchase.SPOT.value).to_numpy()
    learned = spot & np.isfinite(blended)
    return candidates.assign(usd_per_hour=np.where(learned, np.minimum(blended, on_demand), catalog))
