"""What an instance is billed for beside the hours that its training trains, as the platforms of a Market say.

billed hours = the greatest of: hours that it trains + the hours of its start, if these are billed; the least
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from orchestrator.spec.duration import HOUR
from orchestrator.wire.task import KEPT_BACK_S

if TYPE_CHECKING:
    from orchestrator.catalog.market import Market
    from orchestrator.planner.model.arrays import Floats

BILLED = ("billed_start_h", "least_h", "allowance_s")
"""The columns that with_billing adds."""


def with_billing(lanes: pd.DataFrame, market: Market) -> pd.DataFrame:
    """Return a table that has the columns `platform` and `start_h` with BILLED as well.

    `billed_start_h` is the hours of a start that are billed, `least_h` those that are billed at the least, and
    `allowance_s` the seconds that may be billed beyond a training's longest run, null where its platform does not say.
    """
    of_platform = market.billing.set_index("platform")
    codes, platforms = lanes["platform"].factorize()

    def said(name: str, otherwise: float) -> Floats:
        known = [of_platform[name].get(platform) for platform in platforms]
        values = np.array([otherwise if pd.isna(value) else value for value in known], dtype=np.float64)
        return np.asarray(values[codes])

    return lanes.assign(
        billed_start_h=said("start_billed", 0.0) * lanes["start_h"].to_numpy(dtype=np.float64),
        least_h=said("least_s", 0.0) / HOUR,
        allowance_s=said("allowance_s", np.nan),
    )


def billed_hours(trained: Floats, start: Floats, least: Floats) -> Floats:
    """Return the hours that an instance is billed for: those that it trains, and its start; so many at the least."""
    return np.asarray(np.maximum(trained + start, least))


def kept_back_hours(allowance_s: Floats) -> Floats:
    """Return the hours that an envelope has for each attempt, besides the training's own."""
    return np.asarray(np.where(np.isnan(allowance_s), float(KEPT_BACK_S), allowance_s) / HOUR)
