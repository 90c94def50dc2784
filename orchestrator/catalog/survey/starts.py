"""The starts of trainings on the lanes of a Market: how long, how many in an hour, and what of them is billed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.catalog.market import BILLING, STARTS, table
from orchestrator.platforms.billing import Billing
from orchestrator.platforms.start import Start
from orchestrator.spec.duration import HOUR
from orchestrator.wire.task import Lane, Purchase

if TYPE_CHECKING:
    import pandas as pd

    from orchestrator.catalog.platforms import Platforms


def starts_of(lanes: pd.DataFrame, platforms: Platforms) -> pd.DataFrame:
    """Return STARTS of the candidates' lanes, where anything is known of them."""
    key = list(STARTS[:4])
    rows = []
    for platform, region, instance_type, purchase in sorted(
        lanes[key].drop_duplicates().itertuples(index=False, name=None)
    ):
        start = platforms.start(Lane(platform, region, instance_type, Purchase(purchase)))
        if start != Start():
            rows.append((platform, region, instance_type, purchase, start.seconds / HOUR, start.per_second * HOUR))
    return table(rows, STARTS)


def billing_of(lanes: pd.DataFrame, platforms: Platforms) -> pd.DataFrame:
    """Return BILLING of the candidates' platforms, where they bill more than the hours that trainings train."""
    rows = []
    for platform in sorted(lanes["platform"].unique()):
        billing = platforms.billing(platform)
        if billing != Billing():
            allowance_s = float("nan") if billing.allowance_s is None else float(billing.allowance_s)
            rows.append((platform, float(billing.start), billing.least_s, allowance_s))
    return table(rows, BILLING)
