"""All that the planner may know, as plain tables. A value: its hash is in the plan."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from orchestrator.wire.names import digest

if TYPE_CHECKING:
    import pandas as pd

DATASETS = ("dataset", "campaign", "version", "bytes")
CANDIDATES = ("dataset", "platform", "region", "instance_type", "purchase", "s3_uri", "bytes", "usd_per_hour",
              "on_demand_usd_per_hour", "slots", "from_region", "transfer_usd_per_gb")  # fmt: skip
TRANSFERS = ("from_region", "to_region", "from_gb", "usd_per_gb")


@dataclass(frozen=True)
class Market:
    datasets: pd.DataFrame
    """DATASETS: one row a dataset the sweep selects, sorted by name; `dataset` is `campaign@version`.
    Of a classic JOBARRAY: one row a URI, in the order of its lines."""
    candidates: pd.DataFrame
    """CANDIDATES: datasets × lanes that the sweep allows, in the order of the datasets, then of the lanes.
    `s3_uri` is the replica in the lane's Region; or, where there is none and the sweep may copy data, the one to copy:
    then `from_region` and `transfer_usd_per_gb` say from where and for how much, and else they are null.
    `slots` is null where no quota is known, `on_demand_usd_per_hour` where that price is not."""
    transfers: pd.DataFrame
    """TRANSFERS: $/GB from the Regions with data to the Regions with lanes, from a tier on."""

    @cached_property
    def hash(self) -> str:
        """Of the values alone: it does not depend on the database, or on how pandas stores or prints them."""
        return digest([{str(name): _values(table[name]) for name in table} for table in self.tables])

    @property
    def tables(self) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
        return (self.datasets, self.candidates, self.transfers)


def _values(column: pd.Series) -> list[float | str | None]:
    from pandas.api.types import is_numeric_dtype

    values = column.astype(float) if is_numeric_dtype(column) else column
    return values.astype(object).where(column.notna(), None).tolist()
