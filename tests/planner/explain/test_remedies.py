"""What a refusal of a large sweep suggests is hardly more than the smallest that would do, counted by hand."""

from __future__ import annotations

import re
from math import ceil, floor
from typing import Any

import numpy as np
import pytest

from orchestrator.errors import InfeasibleError
from orchestrator.planner.solve import solve
from orchestrator.spec.duration import HOUR, seconds
from tests.fixtures.sweeps import candidate, make_market, make_sweep, with_total

NEARLY = 1.05
TYPES = ("ml.g5.xlarge", "ml.g5.2xlarge", "ml.p3.2xlarge")
ANY_TYPE = {"where": {"instance_types": list(TYPES)}}


def hint(rows: list[dict[str, Any]], **changes: Any) -> str:
    with pytest.raises(InfeasibleError) as caught:
        solve(make_sweep(**changes), make_market(*rows))
    return str(caught.value.hint)


def hours_of(text: str) -> float:
    found = re.search(r"relax the deadline to (\w+)", text)
    assert found, text
    return seconds(found[1]) / HOUR


@pytest.mark.parametrize("seed", range(4))
def test_a_longer_deadline_for_equal_tasks_is_the_first_by_which_all_lanes_have_run_enough(seed: int) -> None:
    random = np.random.default_rng(seed)
    hours = {name: float(random.choice([5, 9, 14, 22])) for name in TYPES}
    slots = {name: int(random.integers(200, 900)) for name in TYPES}
    tasks = sum(slots.values()) + int(random.integers(100, 900))
    rounds = sorted(number * each for each in hours.values() for number in range(1, 40))
    least = next(end for end in rounds if sum(slots[name] * floor(end / hours[name]) for name in TYPES) >= tasks)
    rows = [candidate(instance_type=name, slots=float(slots[name])) for name in TYPES]
    space = {"seed": {"range": [1, tasks]}}
    said = hours_of(hint(rows, **ANY_TYPE, space=space, runtime=hours, plan={"deadline": "4h"}))
    assert least <= said <= least * NEARLY


@pytest.mark.parametrize("seed", range(4))
def test_a_longer_deadline_for_mixed_tasks_is_about_when_the_last_ends_longest_first(seed: int) -> None:
    random = np.random.default_rng(seed)
    lengths = sorted({round(float(each), 2) for each in random.uniform(2, 20, 3)}, reverse=True)
    slots, each = int(random.integers(60, 400)), int(random.integers(350, 500))
    free = [0.0] * slots
    for length in lengths:
        for _ in range(each):
            free[free.index(min(free))] += length
    text = hint(
        [candidate(slots=float(slots))],
        space={"size": lengths, "seed": {"range": [1, each]}},
        runtime="size * 1.0",
        plan={"deadline": f"{ceil(lengths[0])}h"},
    )
    assert max(free) - 1e-9 <= hours_of(text) <= max(free) * NEARLY


@pytest.mark.parametrize(("tasks", "hours", "deadline"), [(1_500, 7, 20), (2_222, 11, 30), (3_000, 5, 14)])
def test_a_larger_quota_is_hardly_larger_than_the_smallest_that_does(tasks: int, hours: int, deadline: int) -> None:
    rows = [candidate(slots=200.0)]
    text = hint(rows, space={"seed": {"range": [1, tasks]}}, runtime=hours, plan={"deadline": f"{deadline}h"})
    found = re.search(r"raise the quota to ([\d,]+)", text)
    assert found, text
    least = ceil(tasks / floor(deadline / hours))
    assert least <= int(found[1].replace(",", "")) <= least * NEARLY


def test_a_total_that_binds_is_named() -> None:
    market = with_total(make_market(*(candidate(instance_type=name, slots=700.0) for name in TYPES)), "us-east-1", 600)
    runtime = dict.fromkeys(TYPES, 7)
    sweep = make_sweep(**ANY_TYPE, space={"seed": {"range": [1, 1_500]}}, runtime=runtime, plan={"deadline": "7h"})
    with pytest.raises(InfeasibleError) as caught:
        solve(sweep, market)
    assert str(caught.value).startswith(
        "1,500 tasks do not fit into the deadline of 7h: total in us-east-1: 600 of 1,500 "
    )
    assert "raise the quota to 1,500" in str(caught.value)


def test_where_no_plan_was_found_although_there_may_be_one_the_refusal_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orchestrator.planner.solver.whole_tasks.repair", lambda *_: None)
    sweep = make_sweep(space={"seed": {"range": [1, 1_500]}, "size": [1, 2]}, runtime="size * 1.0")
    with pytest.raises(InfeasibleError) as caught:
        solve(sweep, make_market(candidate(slots=400.0), candidate(region="eu-west-1", slots=1.0, usd_per_hour=0.1)))
    said = "no plan was found for 3,000 tasks within the horizon of 1d (it is not proven that there is none)"
    assert str(caught.value) == f"{said} (ask for fewer tasks)"
