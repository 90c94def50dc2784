"""Spot on which a task without checkpoints would lose too much is no choice: the loss is told, and can be allowed."""

from __future__ import annotations

from math import exp
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.errors import InfeasibleError
from orchestrator.planner.solve import solve
from tests.fixtures.examples import examples
from tests.fixtures.sweeps import candidate, make_market, make_sweep

ON_DEMAND, SPOT = candidate(), candidate(purchase="spot", usd_per_hour=0.1)
NOTE = "left out: ml.g5.xlarge spot in us-east-1, where interruptions would cost a task"


def lost(hours: float, rate: float) -> float:
    """The hours lost by docs/planner-model.md, for one stretch: (1/λ + r)(e^(λh) − 1) − h, with r = 0.1."""
    return (1 / rate + 0.1) * (exp(rate * hours) - 1) - hours


def planned(hours: float, *places: dict[str, Any], **changes: Any) -> tuple[list[str], str]:
    """Return how tasks of so many hours are bought, and the note on spot that is left out for what they would lose."""
    body = {"runtime": hours, "space": {}, "timeout": "100h", "plan": {"horizon": "100h"}} | changes
    plan = solve(make_sweep(**body), make_market(*(places or (ON_DEMAND, SPOT))))
    bought = [place.lane.purchase.value for share in plan.shares for place in share.places]
    return bought, next((note for note in plan.notes if note.startswith(NOTE)), "")


def test_four_hours_may_be_lost_and_no_more() -> None:
    assert 3.8 < lost(11.2, 0.05) < 4 < lost(11.4, 0.05) < 4.1
    assert planned(11.2) == (["spot", "on_demand"], "")
    assert planned(11.4) == (["on_demand"], f"{NOTE} 4.0 hours or more, for it saves no checkpoints")


def test_the_sweep_file_may_allow_more_or_less() -> None:
    assert planned(20.0, plan={"horizon": "100h", "spot_loss": "15h"})[0] == ["spot", "on_demand"]
    assert planned(20.0, plan={"horizon": "100h", "spot_loss": "14h"})[0] == ["on_demand"]
    assert planned(5.0, plan={"horizon": "100h", "spot_loss": "30m"})[0] == ["on_demand"]


def test_checkpoints_make_any_length_spots() -> None:
    assert planned(60.0, train__checkpoints={"every": "1h"})[0] == ["spot", "on_demand"]


def test_each_lane_is_judged_by_its_own_interruptions() -> None:
    calm = candidate(purchase="spot", usd_per_hour=0.1, region="eu-west-1", interruptions_per_hour=0.01)
    bought, note = planned(20.0, ON_DEMAND, SPOT, calm)
    assert bought == ["spot", "on_demand"]
    assert note.endswith(f" {lost(20, 0.05):.1f} hours or more, for it saves no checkpoints")


def test_spot_alone_on_which_too_much_is_lost_is_refused_with_the_figure_and_what_allows_it() -> None:
    with pytest.raises(InfeasibleError) as refused:
        planned(20.0, SPOT)
    assert refused.value.message == (
        "a task of alps@1 works 20.0 hours, and interruptions of spot are expected to cost it 14.5 more, "
        "for it saves no checkpoints: at most 4h are allowed"
    )
    allowed = refused.value.hint.partition("spot_loss: ")[2].rstrip("}`")
    assert planned(20.0, SPOT, plan={"horizon": "100h", "spot_loss": allowed})[0] == ["spot"]


def test_of_several_cohorts_only_the_long_ones_leave_spot() -> None:
    sweep = make_sweep(
        space={"epochs": [1, 20]}, runtime="epochs", timeout="100h", plan={"horizon": "100h", "minimize": "cost"}
    )
    plan = solve(sweep, make_market(ON_DEMAND, SPOT))
    bought = {share.hours > 10: [place.lane.purchase.value for place in share.places] for share in plan.shares}
    assert bought == {False: ["spot", "on_demand"], True: ["on_demand"]}
    assert not [note for note in plan.notes if note.startswith(NOTE)]


@settings(max_examples=examples(60))
@given(st.floats(0.5, 40), st.sampled_from([0.01, 0.05, 0.2]), st.integers(1, 20))
def test_spot_is_bought_exactly_where_what_is_lost_is_allowed(hours: float, rate: float, allowed: int) -> None:
    spot = candidate(purchase="spot", usd_per_hour=1e-6, interruptions_per_hour=rate)
    if abs(lost(hours, rate) - allowed) < 1e-6:
        return
    timeout = {"timeout": "28d", "plan": {"horizon": "28d", "spot_loss": f"{allowed}h"}}
    held = hours + lost(hours, rate)
    bought = planned(hours, ON_DEMAND, spot, **timeout)[0]
    assert ("spot" in bought) == (lost(hours, rate) <= allowed and held <= 28 * 24)


def test_a_task_that_interruptions_never_let_end_is_refused_in_words() -> None:
    with pytest.raises(InfeasibleError, match="a task of alps@1 never ends, interruptions of spot included"):
        planned(9000, candidate(purchase="spot", interruptions_per_hour=0.5), timeout="20d", plan={"horizon": "20d"})
