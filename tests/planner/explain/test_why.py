"""A plan explains itself: what was chosen, what else there was, and which limits bind."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.errors import UsageError
from orchestrator.planner.explain.why import explain
from orchestrator.planner.solve import solve
from tests.fixtures.sweeps import candidate, make_market, make_sweep

FOUR = {"space": {"lr": [1, 2, 3, 4]}, "runtime": 1}
HOURS = "hours: runtime: 1.0 hours on one instance, as the sweep file says, whatever its type"


def explained(what: str, *rows: dict[str, Any], **changes: Any) -> list[str]:
    sweep, market = make_sweep(**{**FOUR, **changes}), make_market(*rows)
    return explain(solve(sweep, market), what, market)


def test_a_task_is_explained_by_its_share_and_the_runner_up() -> None:
    dearer = candidate(region="eu-west-1", usd_per_hour=2.0)
    assert explained("3", candidate(), dearer) == [
        "tasks 0-3 of alps@1: us-east-1 ml.g5.xlarge on_demand, $1/h",
        "  chosen: 1 h and $1 each; the last ends after 1 h; 8 slots",
        "  runner-up: eu-west-1 ml.g5.xlarge on_demand, $2/h: 1 h (+0) and $2 (+1) each",
        "  if refused: eu-west-1 ml.g5.xlarge on_demand",
        HOURS,
    ]


def test_a_dataset_is_explained_share_by_share_and_what_a_slot_would_save() -> None:
    rows = [candidate(slots=1.0), candidate(region="us-west-2", usd_per_hour=1.5, slots=2.0)]
    lines = explained("alps@1", *rows, plan={"deadline": "2h"})
    assert lines[0] == "tasks 0-1 of alps@1: us-east-1 ml.g5.xlarge on_demand, $1/h"
    assert lines[1].endswith("; its only slot is busy, one more would save $1.00")
    assert "tasks 2-3 of alps@1: us-west-2 ml.g5.xlarge on_demand, $1.5/h" in lines
    assert (
        "  cheaper: us-east-1 ml.g5.xlarge on_demand, $1/h: 1 h (+0) and $1 (-0.5) each; "
        "but its only slot is busy, one more would save $1.00"
    ) in lines


@pytest.mark.parametrize(
    ("cheaper", "changes", "obstacle"),
    [
        ({"from_region": "us-east-1", "transfer_usd_per_gb": 9.0}, {}, "but without the data (a copy is $9.02)"),
        ({"purchase": "spot", "instance_type": "ml.slow"}, {"plan": {"deadline": "2h"}}, "but too late"),
        (
            {"purchase": "spot"},
            {"plan": {"deadline": "90m"}, "train__checkpoints": {"every": "10m"}, "space": {"epochs": [2]}},
            "but too late to begin on spot: its launcher would go on demand",
        ),
        (
            {"purchase": "spot", "on_demand_usd_per_hour": 9.0},
            {"plan": {"budget": 6, "minimize": "cost"}},
            "but its promise of $12.06 is beyond the budget",
        ),
    ],
)
def test_what_is_cheaper_and_why_it_was_not_taken(cheaper: Any, changes: Any, obstacle: str) -> None:
    other = candidate(**{"region": "us-west-2", "usd_per_hour": 0.1, **cheaper})
    types = ["ml.g5.xlarge", "ml.slow"]
    runtime = {"ml.g5.xlarge": 1, "ml.slow": 3}
    move = {"move_data": "if_cheaper"}
    lines = explained("0", candidate(), other, where__instance_types=types, runtime=runtime, data=move, **changes)
    assert any(line.startswith("  cheaper: ") and line.endswith(obstacle) for line in lines), lines


def test_a_copy_and_the_places_behind_it_are_named() -> None:
    far = candidate(region="us-west-2", usd_per_hour=0.01, from_region="us-east-1", transfer_usd_per_gb=0.02)
    lines = explained("0", candidate(), far, data={"move_data": "if_cheaper"})
    assert "  on a copy of the data, for $0.04 in all" in lines
    assert "  if refused: us-east-1 ml.g5.xlarge on_demand" in lines


def test_where_several_platforms_sell_a_type_each_is_named_and_keeps_its_own_price() -> None:
    """Also where what a task was expected to cost elsewhere is the same."""
    rows = [
        candidate(platform=platform, instance_type="c5.xlarge", usd_per_hour=usd, slots=slots)
        for platform, usd, slots in (("ec2", 1.0, 1.0), ("eks", 1.0, 3.0), ("sagemaker", 1.5, 8.0))
    ]
    where = {"platforms": ["ec2", "eks", "sagemaker"], "instance_types": ["c5.xlarge"]}
    lines = explained("alps@1", *rows, where=where, plan={"deadline": "1h"})
    assert lines[0] == "task 0 of alps@1: ec2 us-east-1 c5.xlarge on_demand, $1/h"
    assert (
        lines[1]
        == "  chosen: 1 h and $1 each; the last ends after 1 h; its only slot is busy, one more would save nothing"
    )
    dearer = "  runner-up: sagemaker us-east-1 c5.xlarge on_demand, $1.5/h: 1 h (+0) and $1.5 (+0.5) each"
    assert lines.count(dearer) == 2
    assert "  if refused: eks us-east-1 c5.xlarge on_demand, then sagemaker us-east-1 c5.xlarge on_demand" in lines
    second = lines.index("tasks 1-3 of alps@1: eks us-east-1 c5.xlarge on_demand, $1/h")
    assert "all 3 slots are busy" in lines[second + 1]


@pytest.mark.parametrize(
    ("what", "message"), [("4", r"there is no task 4 \(they are numbered 0 to 3"), ("alp@1", "did you mean 'alps@1'")]
)
def test_what_is_not_in_the_plan_cannot_be_explained(what: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        explained(what, candidate())


def test_the_fastest_plan_is_explained_too() -> None:
    rows = [candidate(slots=2.0), candidate(region="us-west-2", usd_per_hour=5.0, slots=2.0)]
    lines = explained("alps@1", *rows, plan={"minimize": "time"})
    assert sum(line.startswith("tasks ") for line in lines) == 2
