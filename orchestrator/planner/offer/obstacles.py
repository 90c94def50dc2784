"""Obstacles: the reasons, in words, why a candidate cannot be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from orchestrator.errors import InfeasibleError
from orchestrator.planner.offer.offer import LOT_AND_COUNT, QUOTA
from orchestrator.wire.task import Quota

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from orchestrator.catalog.market import Market
    from orchestrator.planner.hours.runtimes import Runtimes
    from orchestrator.spec.sweep import Sweep

UNKNOWN_RUNTIME = "no runtime for "
TOO_SMALL = "the quota "


def obstacles(candidates: pd.DataFrame, sweep: Sweep, runtimes: Runtimes, market: Market) -> pd.Series[str]:
    """Return for each candidate the first reason that stands in its way, or an empty text if it can be used.

    `candidates` are the market's on each number of instances, with spot at its expected price and datasets by number.
    """
    reasons = pd.Series("", index=candidates.index, dtype=object)

    def forbid(rows: pd.Series[bool], reason: Callable[[pd.DataFrame], pd.Series[str]]) -> None:
        if not rows.any():
            return
        new = rows & (reasons == "")
        if new.any():  # few of many: only these get words
            reasons.loc[new] = reason(candidates[new])

    forbid(candidates["usd_per_hour"].isna(), lambda rows: "no price for " + _lane(rows))
    committed = candidates["purchase"] == "committed"
    forbid(
        ~committed & candidates["on_demand_usd_per_hour"].isna(),
        lambda rows: "no on-demand price for " + rows["instance_type"] + " in " + rows["region"],
    )
    forbid(committed & (candidates["site"].fillna("") == ""), lambda rows: "no training plan's ARN for " + _lane(rows))
    if sweep.data.move_data == "never":
        forbid(candidates["from_region"].notna(), lambda rows: "no replica in " + rows["region"])
    forbid(
        ~candidates["instance_type"].isin({name for name, _ in runtimes.pace}),
        lambda rows: UNKNOWN_RUNTIME + rows["instance_type"] + ", and no prior for its speed",
    )
    too_small = _too_small_quotas(candidates, sweep.train.instance_counts, market)
    forbid(too_small.notna(), lambda rows: too_small[rows.index])
    return reasons


def _too_small_quotas(candidates: pd.DataFrame, counts: Sequence[int], market: Market) -> pd.Series[str]:
    """Return for each candidate, in words, the first quota that is too small for one training; null where none is."""
    none = pd.Series(None, index=candidates.index, dtype=object)
    if market.quotas.empty or candidates.empty:
        return none
    counted = market.uses.merge(market.quotas, on=QUOTA, suffixes=("_each", ""))
    on_each = [counted.assign(need=counted["units_each"] * count, instances=count) for count in counts]
    short = pd.concat([uses[uses["units"] < uses["need"]] for uses in on_each]).drop_duplicates(LOT_AND_COUNT)
    if short.empty:
        return none
    columns = short[[*QUOTA, "units", "need"]].itertuples(index=False, name=None)
    short["reason"] = [_too_small(Quota(*key), units, need, market) for *key, units, need in columns]
    lanes = candidates[LOT_AND_COUNT].fillna({"site": ""})
    found = lanes.merge(short[[*LOT_AND_COUNT, "reason"]], on=LOT_AND_COUNT, how="left")["reason"]
    return found.set_axis(candidates.index)


def _too_small(quota: Quota, units: int, need: int, market: Market) -> str:
    """Return in words that a quota is too small, with the code by which AWS knows it."""
    code = market.quota_codes.get(quota, "")
    known = f" ({code})" if code else ""
    return f"{TOO_SMALL}{quota}{known} is {units}, and a training needs {need}"


def _how_to_raise(reason: str, market: Market) -> str:
    """Return what prints how AWS is asked for more of the quota that a reason names; nothing if nobody knows."""
    for quota in market.quota_codes:
        if reason.startswith(f"{TOO_SMALL}{quota} "):
            need = reason.rpartition(" ")[2]
            command = f"sweep quotas {quota.name} --region {quota.region} --raise-to {need}"
            return f"`{command}` prints how to ask AWS for more, or "
    return "raise it, or "


def _lane(rows: pd.DataFrame) -> pd.Series[str]:
    return rows["instance_type"] + " " + rows["purchase"] + " in " + rows["region"]


def no_place_error(dataset: str, sweep: Sweep, reasons: pd.Series[str], market: Market) -> InfeasibleError:
    """Return the error that no place can train this dataset, from the reasons of its candidates."""
    allowed = ", ".join(sweep.where.regions)
    if reasons.empty:
        types = ", ".join(sweep.where.instance_types)
        return InfeasibleError(
            f"{dataset} has no replica in an allowed Region ({allowed})" if allowed else f"{dataset} has no replica",
            hint=f"or none of {types} is for sale where it lies: see `sweep catalog show replicas` and `prices`",
        )
    reason, others = reasons.iloc[0], reasons.nunique() - 1
    more = f", and {others} more {'reason' if others == 1 else 'reasons'}" if others else ""
    hint = "load prices and quotas with `sweep catalog load`, or widen `where` in the sweep file"
    if reason.startswith(TOO_SMALL):
        hint = f"{_how_to_raise(reason, market)}widen `where` in the sweep file"
    elif reason.startswith(UNKNOWN_RUNTIME):
        hint = "say its hours with `runtime` in the sweep file; once some tasks have finished, they are learned"
    return InfeasibleError(f"{dataset} cannot be trained anywhere: {reason}{more}", hint=hint)
