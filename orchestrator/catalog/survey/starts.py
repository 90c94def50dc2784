"""The starts of trainings on the lanes of a Market: how long one takes, and how many may begin in an hour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.catalog.market import STARTS, table
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
