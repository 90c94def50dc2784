"""The budget of a workload: every run's plan keeps to the budget of a run."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from orchestrator.spec.sweep import Sweep
from tests.fixtures.sweeps import make_sweep


@pytest.mark.parametrize(
    ("budget", "plan", "kept"),
    [
        ({"per_run": 200}, {}, (200.0, "cost")),
        ({"per_run": "$2,000"}, {"deadline": "8h"}, (2000.0, "cost")),
        ({"per_run": 200}, {"budget": 50}, (50.0, None)),
        ({"per_run": 200}, {"budget": 500}, (200.0, None)),
        ({"per_run": 200}, {"minimize": "time"}, (200.0, "time")),
        ({"per_month": 200}, {}, (None, None)),
    ],
)
def test_a_plan_keeps_to_the_budget_of_a_run(budget: Any, plan: Any, kept: tuple[float | None, str | None]) -> None:
    made = make_sweep(budget=budget, plan=plan)
    assert (made.plan.budget, made.plan.minimize) == kept
    assert Sweep.model_validate(made.model_dump(mode="json")) == made


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        ({}, "a budget without an amount"),
        ({"per_run": 300, "per_month": 200}, r"a run's \$300.00 are more than the month's \$200.00"),
        ({"per_run": 0}, "not above 0"),
        ({"per_run": -3}, "not above 0"),
        ({"per_month": float("inf")}, "no amount of dollars"),
        ({"per_month": "lots"}, "not an amount of dollars"),
        ({"per_run": True}, "expected an amount of dollars"),
        ({"per_day": 3}, "Extra inputs"),
        (200, "valid dictionary"),
    ],
)
def test_what_is_no_budget_is_refused(budget: Any, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        make_sweep(budget=budget)


def test_a_sweep_without_a_budget_is_stored_as_it_always_was() -> None:
    assert "budget" not in make_sweep().model_dump(mode="json")
