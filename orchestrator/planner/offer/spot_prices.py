"""What an hour of managed spot is expected to cost. It has no published price: the bill tells, once the job is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    import pandas as pd

PRIOR_TASKS = 10.0
"""Finished tasks of our own that weigh as much as the catalog's price."""
_LANE = ["region", "instance_type"]


def priced(candidates: pd.DataFrame, discounts: pd.DataFrame) -> pd.DataFrame:
    """Candidates of a Market, where spot costs what its discounts teach; what nothing is known of keeps its price.

    Billed is the on-demand rate for a part of the time: so never more than on demand.
    """
    if discounts.empty:
        return candidates.copy(deep=False)
    own = candidates[_LANE].merge(discounts, on=_LANE, how="left")
    tasks, ratio = (own[name].to_numpy(dtype=np.float64) for name in ("tasks", "ratio"))
    catalog, on_demand = (
        candidates[name].to_numpy(dtype=np.float64) for name in ("usd_per_hour", "on_demand_usd_per_hour")
    )
    blended = (tasks * ratio * on_demand + PRIOR_TASKS * np.minimum(catalog, on_demand)) / (tasks + PRIOR_TASKS)
    managed = (candidates["platform"] == "sagemaker") & (candidates["purchase"] == Purchase.SPOT.value)
    learned = managed.to_numpy() & np.isfinite(blended)
    return candidates.assign(usd_per_hour=np.where(learned, np.minimum(blended, on_demand), catalog))
