"""Today's market, in which the lanes, replicas and prices of a plan are found quickly."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pandas as pd

from orchestrator.plan.slots import LotKey
from orchestrator.planner.move_prices import price_moves
from orchestrator.planner.offer.copy_prices import COPY, price_copies
from orchestrator.planner.offer.spot_prices import as_learned
from orchestrator.wire.task import Lane, Purchase

if TYPE_CHECKING:
    from orchestrator.catalog.market import Market
    from orchestrator.plan.copy import Copy
    from orchestrator.plan.plan import Plan
    from orchestrator.wire.task import Place


class Today:
    """Today's market, and what the places and copies of a plan cost in it."""

    def __init__(self, market: Market) -> None:
        self.market = market
        self.lots: dict[LotKey, dict[Any, Any]] = {}
        """A row of the market's candidates for each lane."""
        self.replicas: dict[tuple[str, LotKey], str | None] = {}
        """The URI of each dataset in the Region of each lane; None where the dataset has to be copied there."""
        for row in as_learned(market).to_dict("records"):
            lane = Lane(row["platform"], row["region"], row["instance_type"], Purchase(row["purchase"]))
            key = LotKey(lane, row["site"] if pd.notna(row["site"]) else "")
            self.lots[key] = row
            self.replicas[row["dataset"], key] = None if pd.notna(row["from_region"]) else row["s3_uri"]
        said = market.billing[["platform", "allowance_s"]].dropna().itertuples(index=False, name=None)
        self._allowance_s = {platform: int(seconds) for platform, seconds in said}

    def place(self, place: Place) -> Place:
        """Return a place with what AWS bills there today.

        Its platform bills no more beyond a run than the place says. Where it says nothing, it is what is usual today.
        """
        row = self.lots.get(LotKey.of(place))
        is_billed = row is not None and place.lane.purchase is not Purchase.COMMITTED
        rate = float(row["on_demand_usd_per_hour"]) if row is not None and is_billed else place.rate
        unsaid = self._allowance_s.get(place.lane.platform)
        return replace(place, rate=rate, allowance_s=unsaid if place.allowance_s is None else place.allowance_s)

    def copy(self, copy: Copy, plan: Plan) -> Copy:
        """Return a copy of the plan at today's price; as it is, if nobody can tell."""
        usd = self._copies_usd.get((plan.datasets[copy.dataset].name, copy.to_region, copy.from_region))
        return copy if usd is None else replace(copy, usd=usd)

    def moves(self, plan: Plan) -> Plan:
        """Return the plan with today's prices of moving checkpoints."""
        return price_moves(plan, self.market.transfers)

    @cached_property
    def _copies_usd(self) -> dict[tuple[Any, ...], float]:
        market = self.market
        made = price_copies(market.candidates, market.transfers, market.storage).to_dict("records")
        return {tuple(row[name] for name in COPY): row["usd"] for row in made}
