"""The Market: all that the planner may know, as plain tables. Its hash is in the plan."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from orchestrator.wire.names import digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from orchestrator.wire.manifest import ClassicLine
    from orchestrator.wire.task import Quota

DATASETS = ("dataset", "campaign", "version", "bytes")
CANDIDATES = ("dataset", "platform", "region", "instance_type", "purchase", "s3_uri", "bytes", "usd_per_hour",
              "on_demand_usd_per_hour", "interruptions_per_hour", "opens_h", "closes_h", "site",
              "from_region", "transfer_usd_per_gb")  # fmt: skip
TRANSFERS = ("from_region", "to_region", "from_gb", "usd_per_gb")
QUOTAS = ("platform", "region", "quota", "units", "held")
USES = ("platform", "region", "instance_type", "purchase", "site", "quota", "units")
POOLS = ("pool", "platform", "region", "instance_type", "usd_per_hour", "discount", "opens_h", "closes_h")
LEASES = ("run", "platform", "region", "quota", "units")
HISTORY = ("platform", "region", "instance_type", "purchase", "instances", "bytes", "sizes", "hours")
STARTS = ("platform", "region", "instance_type", "purchase", "start_h", "starts_per_hour")
BILLING = ("platform", "start_billed", "least_s", "allowance_s")
STORAGE = ("region", "from_gb", "usd_per_gb")
DISCOUNTS = ("platform", "region", "instance_type", "hours", "usd_per_hour")
STARTED = ("platform", "region", "instance_type", "purchase", "trainings", "start_h")
ASKED = ("platform", "region", "instance_type", "purchase", "asked_h", "refused_h", "granted_h", "waited_h")
INTERRUPTED = ("platform", "region", "instance_type", "hours", "times")
PINS = ("what", "place", "value", "by", "at")

ANY = "*"
"""Stands for every Region, instance type or purchase: in a quota over a whole Region, or a savings plan."""


def stands_for(held: str, name: str) -> bool:
    """Return whether what a commitment is for holds for this Region or type: `*` is all, `g5.*` all of a family."""
    return held in (ANY, name) or (is_family(held) and name.startswith(held[:-1]))


def is_family(instance_type: str) -> bool:
    """Return whether it stands for all types of a family, as `g5.*` does."""
    return instance_type.endswith(".*")


_WHOLE = ("bytes", "units", "held", "instances", "tasks", "trainings", "times")
_NUMBERS = (*_WHOLE, "usd_per_hour", "on_demand_usd_per_hour", "interruptions_per_hour", "opens_h", "closes_h",
            "transfer_usd_per_gb", "from_gb", "usd_per_gb", "discount", "hours", "start_h",
            "starts_per_hour", "asked_h", "refused_h", "granted_h", "waited_h", "value",
            "start_billed", "least_s", "allowance_s")  # fmt: skip


def table(rows: Iterable[Sequence[Any]], columns: Sequence[str]) -> pd.DataFrame:
    """Return the rows as a table. Columns of numbers have a number's type even if there are no rows."""
    import numpy as np
    import pandas as pd

    cells = list(zip(*rows, strict=True)) or [()] * len(columns)  # column by column: many rows are quick so
    made: dict[str, Any] = {}
    for name, values in zip(columns, cells, strict=True):
        if name in _WHOLE:
            made[name] = np.array(values, dtype="int64")
        elif name in _NUMBERS:
            made[name] = np.array(values, dtype="float64")
        else:
            made[name] = list(values)
    return pd.DataFrame(made)


@dataclass(frozen=True)
class Seen:
    """Holds what attempts of all runs have told of their lanes, and what people have pinned instead of that."""

    starts: pd.DataFrame = field(default_factory=partial(table, (), STARTED))
    """STARTED: trainings of a lane, and the median of the hours that they held their slots to start and to end."""
    asked: pd.DataFrame = field(default_factory=partial(table, (), ASKED))
    """ASKED: hours in which ours asked a lane for machines, those in which it refused, and those in which it gave some,
    each counting the less the older it is; and what those waited who got some, for each hour in which they did."""
    interrupted: pd.DataFrame = field(default_factory=partial(table, (), INTERRUPTED))
    """INTERRUPTED: hours that spot instances ran for us, and how often they were taken away."""
    pins: pd.DataFrame = field(default_factory=partial(table, (), PINS))
    """PINS: the `value` of a kind that counts whatever is learned, who said so, and when. `place` is a lane; of the
    runtime of this sweep's workload it is an instance type."""

    @property
    def tables(self) -> tuple[pd.DataFrame, ...]:
        """The tables that have rows: a market in which nothing was seen has the hash that it always had."""
        return tuple(each for each in (self.starts, self.asked, self.interrupted, self.pins) if len(each))


@dataclass(frozen=True)
class Past:
    """Holds what was learned from earlier runs: about this sweep's workload, and about lanes everywhere."""

    history: pd.DataFrame
    """HISTORY: one row a finished task of the same workload. `sizes` is canonical JSON of its numeric parameters."""
    discounts: pd.DataFrame
    """DISCOUNTS: hours that finished spot tasks held instances, and the median of what such an hour really cost."""
    seen: Seen = field(default_factory=Seen)


@dataclass(frozen=True)
class Market:
    """Holds all that the planner may know for one sweep. Before each colon stands the tuple of the table's columns."""

    datasets: pd.DataFrame
    """DATASETS: one row a dataset the sweep selects, sorted by name; `dataset` is `campaign@version`.
    For a classic JOBARRAY there is one row a URI, in the order of its lines."""
    candidates: pd.DataFrame
    """CANDIDATES: datasets × lanes that the sweep allows, in the order of the datasets, then of the lanes.
    `s3_uri` is the replica in the lane's Region. Where there is none and the sweep may copy data, there is a row for
    each replica that can be copied: then `from_region` and `transfer_usd_per_gb` (of the tier that its bytes reach) say
    from where and for how much, and else they are null.
    A committed lane is one training plan, `site`, ours from `opens_h` to `closes_h`, in hours from now. Any other is
    ours from 0 to infinity, and its site is null.
    `on_demand_usd_per_hour` and `interruptions_per_hour` (of spot) are null where they are not known."""
    transfers: pd.DataFrame
    """TRANSFERS: $/GB from the Regions with data to the Regions with lanes, from a tier on."""
    quotas: pd.DataFrame = field(default_factory=partial(table, (), QUOTAS))
    """QUOTAS: the known quotas that the candidates count under, by key: the whole quota in `units`, and what live runs
    hold of it."""
    uses: pd.DataFrame = field(default_factory=partial(table, (), USES))
    """USES: the `units` of each quota that one instance of a candidate's lane counts for, known or not. `site` is empty
    where a lane has none."""
    pools: pd.DataFrame = field(default_factory=partial(table, (), POOLS))
    """POOLS: savings plans, $/hour paid already; `discount` is what on-demand hours cost less that draw on one."""
    leases: pd.DataFrame = field(default_factory=partial(table, (), LEASES))
    """LEASES: which live runs hold what is held, of all quotas."""
    history: pd.DataFrame = field(default_factory=partial(table, (), HISTORY))
    """HISTORY, as in Past."""
    discounts: pd.DataFrame = field(default_factory=partial(table, (), DISCOUNTS))
    """DISCOUNTS, as in Past."""
    seen: Seen = field(default_factory=Seen)
    """What was seen of lanes, as in Past."""
    starts: pd.DataFrame = field(default_factory=partial(table, (), STARTS))
    """STARTS: hours that a training holds its slot on a lane beside those that it trains, and how many may be started
    in an hour in the lane's Region. What is not named here starts and ends at once."""
    billing: pd.DataFrame = field(default_factory=partial(table, (), BILLING))
    """BILLING: platforms that bill more than the hours that trainings train, as their `Billing` says. `start_billed` is
    the part of a start that is billed, 1 or 0; `allowance_s` is null where the platform does not say. A platform that
    is not named here bills nothing else."""
    storage: pd.DataFrame = field(default_factory=partial(table, (), STORAGE))
    """STORAGE: $/GB for a month in the Regions that data may be copied to, from a tier on, as far as it is known."""
    launchers: int | None = None
    """Launchers that Batch has room for at once, each of which watches one training; None where nobody knows."""
    lines: Mapping[str, ClassicLine] = field(default_factory=dict)
    """The lines of a classic JOBARRAY that say more than where data lies, by the dataset that each stands for."""
    quota_codes: Mapping[Quota, str] = field(default_factory=dict)
    """The service and the code by which AWS is asked to raise a quota, where that is known. No plan follows from it, so
    it is not hashed."""
    cautions: tuple[str, ...] = ()
    """What the sweep's platforms warn of, for the notes of its plan. It follows from the sweep, so it is not hashed."""

    @cached_property
    def hash(self) -> str:
        """The hash of the values alone: it does not depend on the database, or on how pandas stores or prints them."""
        tables: list[object] = [[_column_summary(str(name), table[name]) for name in table] for table in self.tables]
        lines = [
            [name, line.point, line.instance_type, *([line.image] if line.image else [])]
            for name, line in self.lines.items()
        ]
        tables += [lines] if lines else []
        return digest([*tables, {"launchers": self.launchers}] if self.launchers is not None else tables)

    @property
    def tables(self) -> tuple[pd.DataFrame, ...]:
        """All tables, in the order in which they are hashed."""
        made: tuple[pd.DataFrame, ...] = (self.datasets, self.candidates, self.transfers)
        made = (*made, self.quotas, self.uses, self.pools, self.leases, self.history, self.discounts)
        made = (*made, self.starts) if len(self.starts) else made
        made = (*made, self.billing) if len(self.billing) else made
        made = (*made, self.storage) if len(self.storage) else made
        return (*made, *self.seen.tables)


def _column_summary(name: str, column: pd.Series[Any]) -> list[object]:
    """Return what tells two columns apart, in few bytes: a Market may have a million cells."""
    import pandas as pd

    if name in _NUMBERS:
        numbers = column.to_numpy(dtype="<f8", na_value=float("nan")) + 0.0  # -0.0 and 0.0 are one number
        return [name, len(column), digest(numbers.tobytes(), length=64)]
    codes, names = pd.factorize(column)
    return [name, len(column), list(names), digest(codes.astype("<i4").tobytes(), length=64)]
