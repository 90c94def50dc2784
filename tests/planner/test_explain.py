"""A plan explains itself, and what changed since yesterday."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.errors import UsageError
from orchestrator.planner.explain import difference, explain
from orchestrator.planner.solve import solve
from tests.fixtures.sweeps import candidate, make_market, make_sweep

if TYPE_CHECKING:
    from orchestrator.planner.plan import Plan


def made(price: float = 1.0, slots: float = 8.0) -> Plan:
    rows = [candidate(usd_per_hour=price, slots=slots), candidate(region="eu-west-1", usd_per_hour=2.0)]
    return solve(make_sweep(), make_market(*rows))


def test_a_task_is_explained_by_its_share() -> None:
    assert explain(made(), "3") == [
        "tasks 2-3 of alps@1: sagemaker/us-east-1/ml.g5.xlarge/on_demand, $1/h, 8 slots",
        "  1 h and $1 each: cheapest; then ml.g5.xlarge on_demand in eu-west-1, 100% dearer",
        "  choice 2: sagemaker/eu-west-1/ml.g5.xlarge/on_demand, $2/h, 8 slots",
    ]


def test_a_dataset_is_explained_share_by_share() -> None:
    assert [line for line in explain(made(), "alps@1") if not line.startswith(" ")] == [
        "tasks 0-1 of alps@1: sagemaker/us-east-1/ml.g5.xlarge/on_demand, $1/h, 8 slots",
        "tasks 2-3 of alps@1: sagemaker/us-east-1/ml.g5.xlarge/on_demand, $1/h, 8 slots",
    ]


@pytest.mark.parametrize(
    ("what", "said"), [("4", r"there is no task 4 \(they are numbered 0 to 3"), ("alp@1", "did you mean 'alps@1'")]
)
def test_what_is_not_in_the_plan_cannot_be_explained(what: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        explain(made(), what)


def test_a_dearer_price_and_where_tasks_went_because_of_it() -> None:
    assert difference(made(), made(price=3.0, slots=4.0)) == [
        "$3.00 became $6.00; 1 h became 1 h",
        "price: sagemaker/us-east-1/ml.g5.xlarge/on_demand $1/h became $3/h",
        "quota: sagemaker/us-east-1/ml.g5.xlarge/on_demand 8 became 4 slots",
        "tasks: sagemaker/eu-west-1/ml.g5.xlarge/on_demand 0 became 4",
        "tasks: sagemaker/us-east-1/ml.g5.xlarge/on_demand 4 became 0",
    ]


def test_nothing_else_is_said_of_the_same_plan() -> None:
    assert difference(made(), made()) == ["$3.00 became $3.00; 1 h became 1 h"]
