"""A refusal says which Regions would help, and whether moving the data would."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.errors import CatalogError, InfeasibleError
from orchestrator.planner.explain.elsewhere import suggest_elsewhere
from orchestrator.planner.solve import solve
from tests.fixtures.sweeps import candidate, make_market, make_sweep

if TYPE_CHECKING:
    from orchestrator.catalog.market import Market
    from orchestrator.spec.sweep import Sweep

REGIONS = ("us-east-1", "us-west-2", "eu-west-1", "eu-central-1")
FOUR_HOURS = {"space": {"lr": list(range(8))}, "runtime": 1, "plan": {"deadline": "4h"}}


def lanes(*slots: float) -> list[dict[str, Any]]:
    """The first Region is the cheapest, the next is dearer, and so on."""
    return [
        candidate(region=region, slots=some, usd_per_hour=1.0 + rank)
        for rank, (region, some) in enumerate(zip(REGIONS, slots, strict=False))
    ]


def surveyed(rows: list[dict[str, Any]]) -> Any:
    """Return a survey that answers as the catalog would."""

    def survey(sweep: Sweep) -> Market:
        allowed = [row for row in rows if not sweep.where.regions or row["region"] in sweep.where.regions]
        stays = sweep.data.move_data == "never"
        return make_market(*[row for row in allowed if not (stays and row["from_region"])])

    return survey


def hint(rows: list[dict[str, Any]], **changes: Any) -> str:
    sweep, survey = make_sweep(where__regions=["us-east-1"], **FOUR_HOURS, **changes), surveyed(rows)
    with pytest.raises(InfeasibleError) as caught:
        solve(sweep, survey(sweep))
    return suggest_elsewhere(caught.value, sweep, survey).hint


def test_the_two_cheapest_regions_that_would_do_are_named() -> None:
    suggested = hint(lanes(1.0, 0.5, 1.0, 2.0))
    assert suggested == "raise the quota to 2, or relax the deadline to 8h, or allow eu-west-1 or eu-central-1"
    for region in ("eu-west-1", "eu-central-1"):
        sweep = make_sweep(where__regions=["us-east-1", region], **FOUR_HOURS)
        solve(sweep, surveyed(lanes(1.0, 0.5, 1.0, 2.0))(sweep))


def test_regions_that_do_only_together_are_named_together() -> None:
    rows = lanes(1.0, 1.0, 1.0)
    sweep_of_three = {**FOUR_HOURS, "space": {"lr": list(range(12))}}
    sweep, survey = make_sweep(where__regions=["us-east-1"], **sweep_of_three), surveyed(rows)
    refusal = InfeasibleError("no room", hint="raise the quota")
    assert suggest_elsewhere(refusal, sweep, survey).hint == "raise the quota, or allow us-west-2 and eu-west-1"


def test_nothing_is_said_where_no_region_helps() -> None:
    assert hint(lanes(1.0, 0.0)) == "raise the quota to 2, or relax the deadline to 8h"


def test_moving_data_is_named_where_that_does() -> None:
    near, far = lanes(1.0, 2.0)
    moved = {**far, "from_region": "us-east-1", "transfer_usd_per_gb": 0.02}
    move = "let data move{} with `data: {{move_data: if_cheaper}}`".format
    assert hint([near, moved]).endswith("or allow us-west-2 and " + move(" there"))
    sweep = make_sweep(where__regions=["us-east-1", "us-west-2"], **FOUR_HOURS)
    refusal = InfeasibleError("no room", hint="raise the quota")
    assert suggest_elsewhere(refusal, sweep, surveyed([near, moved])).hint == "raise the quota, or " + move("")


def test_a_catalog_that_knows_no_other_place_leaves_the_refusal_as_it_is() -> None:
    def survey(_: Sweep) -> Market:
        raise CatalogError("nothing there")

    refusal = InfeasibleError("no room", hint="raise the quota")
    assert suggest_elsewhere(refusal, make_sweep(where__regions=["us-east-1"]), survey).hint == "raise the quota"
