"""All that the planner may know, as plain tables. A value: its hash is in the plan."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from orchestrator.wire.names import digest

if TYPE_CHECKING:
    import pandas as pd

CANDIDATES = ("dataset", "platform", "region", "instance_type", "purchase", "s3_uri", "bytes", "usd_per_hour",
              "on_demand_usd_per_hour", "slots")  # fmt: skip
TRANSFERS = ("from_region", "to_region", "from_gb", "usd_per_gb")
DATASETS = ("dataset", "campaign", "version", "bytes")


@dataclass(frozen=True)
class Market:
    datasets: pd.DataFrame
    """DATASETS: one row a dataset the sweep selects, sorted by name; `dataset` is `campaign@version`."""
    candidates: pd.DataFrame
    """CANDIDATES: datasets × lanes where a replica lies and the sweep allows it. `slots` is NaN where no quota is known."""
    transfers: pd.DataFrame
    """TRANSFERS: $/GB from Region to Region, from a tier on."""

    @cached_property
    def hash(self) -> str:
        return digest([table.to_json(orient="split", index=False, double_precision=12) for table in self.tables])

    @property
    def tables(self) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
        return (self.datasets, self.candidates, self.transfers)
