"""Why a candidate cannot be used, in words: the first obstacle that stands in its way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from orchestrator.errors import InfeasibleError

if TYPE_CHECKING:
    from orchestrator.planner.runtime import Runtimes
    from orchestrator.spec.sweep import Sweep


def obstacles(candidates: pd.DataFrame, sweep: Sweep, runtimes: Runtimes) -> pd.Series[str]:
    """A reason for each candidate, empty for those that can be used."""
    reasons = pd.Series("", index=candidates.index, dtype=object)

    def forbid(rows: pd.Series[bool], reason: str | pd.Series[str]) -> None:
        reasons.loc[rows & (reasons == "")] = reason

    lane = candidates["instance_type"] + " " + candidates["purchase"] + " in " + candidates["region"]
    types = candidates["instance_type"]
    forbid(candidates["usd_per_hour"].isna(), "no price for " + lane)
    forbid(
        candidates["on_demand_usd_per_hour"].isna(), "no on-demand price for " + types + " in " + candidates["region"]
    )
    plan = candidates["arn"].fillna("") != ""
    forbid((candidates["purchase"] == "committed") & ~plan, "no training plan's ARN for " + lane)
    if sweep.data.move_data == "never":
        forbid(candidates["from_region"].notna(), "no replica in " + candidates["region"])
    forbid(~types.isin(list(runtimes.pace)), "no runtime for " + types + ", and no prior for its speed")
    instances = sweep.train.instances
    slots = candidates["slots"]
    short = slots.notna() & (slots < instances)
    quota = slots[short].astype("int64").astype(str).reindex(candidates.index, fill_value="")
    forbid(short, "a quota of " + quota + " for " + lane + f", where a training needs {instances}")
    return reasons


def nowhere(dataset: str, sweep: Sweep, reasons: pd.Series[str]) -> InfeasibleError:
    """No place can train this dataset."""
    allowed = ", ".join(sweep.where.regions)
    if reasons.empty:
        types = ", ".join(sweep.where.instance_types)
        return InfeasibleError(
            f"{dataset} has no replica in an allowed Region ({allowed})" if allowed else f"{dataset} has no replica",
            hint=f"or none of {types} is for sale where it lies: see `sweep catalog show replicas` and `prices`",
        )
    first, more = reasons.iloc[0], reasons.nunique() - 1
    return InfeasibleError(
        f"{dataset} cannot be trained anywhere: {first}" + (f", and {more} more reasons" if more else ""),
        hint="load prices and quotas with `sweep catalog load`, or widen `where` in the sweep file",
    )
