"""Plans of small sweeps cost exactly what an independent oracle finds, above all where a deadline is just kept."""

from __future__ import annotations

from itertools import product
from math import inf, isfinite
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

from orchestrator.errors import InfeasibleError
from orchestrator.planner.solve import solve
from orchestrator.spec.duration import HOUR
from tests.fixtures.sweeps import candidate, make_market, make_sweep, with_total
from tests.planner.oracle import Group, OracleLane, least_usd

if TYPE_CHECKING:
    from orchestrator.catalog.market import Market
    from orchestrator.spec.sweep import Sweep

REGIONS = ("us-east-1", "us-west-2")
TYPES = ("ml.m5.xlarge", "ml.c5.xlarge")
UNITS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.7)
"""Hours of an epoch. None of them is a float, but all of them are whole seconds."""


class Work(NamedTuple):
    """So many tasks for each dataset and number of epochs."""

    unit: float
    """Hours of an epoch."""
    epochs: tuple[int, ...]
    each: int
    homes: tuple[frozenset[str], ...]
    """The Regions of each dataset."""


class Case(NamedTuple):
    sweep: Sweep
    market: Market
    groups: tuple[Group, ...]
    lanes: tuple[OracleLane, ...]
    totals: dict[str, int]
    horizon: float


def test_a_deadline_that_whole_tasks_just_keep_is_no_dearer_than_one_of_a_second_more() -> None:
    """Two slots under totals, one of which is filled to the last second: HiGHS once dropped this plan."""
    lanes = (
        OracleLane("us-west-2", False, 1.383, 1),
        OracleLane("us-east-1", False, 0.717, 1),
        OracleLane("us-east-1", True, 0.1926, 1),
    )
    work = Work(0.2, (2, 3), 3, (frozenset(REGIONS),) * 3)
    for seconds in (4 * 3600 + 36 * 60, 4 * 3600 + 36 * 60 + 1):
        case = make_case(work, lanes, dict.fromkeys(REGIONS, 1), seconds)
        plan = solve(case.sweep, case.market)
        assert round(plan.usd, 4) == 7.2232
        assert plan.bound <= plan.usd * (1 + 1e-9)


@pytest.mark.parametrize("start", [0, *(pytest.param(start, marks=pytest.mark.long) for start in range(40, 600, 40))])
def test_plans_cost_what_the_oracle_finds_with_deadlines_at_the_boundary(start: int) -> None:
    found = 0
    for seed in range(start, start + 40):
        case = random_case(seed)
        best = least_usd(case.groups, case.lanes, case.totals, case.horizon)
        try:
            plan = solve(case.sweep, case.market)
        except InfeasibleError:
            assert best == inf, f"seed {seed}: refused, though ${best:.4f} would do"
            continue
        assert isfinite(best), f"seed {seed}: planned, though nothing fits"
        assert plan.bound <= best * (1 + 1e-7), f"seed {seed}: ${best:.6f} is below the bound"
        assert plan.usd == pytest.approx(best, rel=1e-6), f"seed {seed}"
        found += 1
    assert found > 20


def random_case(seed: int) -> Case:
    """Return a sweep whose deadline is just kept by one slot of some of its tasks, or missed by a second."""
    random = np.random.default_rng([13, seed])
    unit = float(random.choice(UNITS))
    epochs = tuple(sorted(random.choice(np.arange(1, 7), int(random.integers(1, 4)), replace=False).tolist()))
    datasets, each = int(random.integers(1, 3)), int(random.integers(1, 4))
    homes = [frozenset(random.choice(REGIONS, int(random.integers(1, 3)), replace=False)) for _ in range(datasets)]
    lanes = []
    for region, _ in product(REGIONS, TYPES):
        usd = round(float(random.uniform(0.3, 2)), 3)
        spot = bool(random.random() < 0.4)
        if random.random() < 0.75:
            lanes.append(OracleLane(region, spot, usd, int(random.integers(1, 3))))
    totals = {region: int(random.integers(1, 4)) for region in REGIONS if random.random() < 0.6}
    in_slot = random.choice(epochs, int(random.integers(2, 9))).sum()
    seconds = round(in_slot * unit * 3600) + int(random.choice([0, 0, 0, 1, -1]))
    if not lanes or any(not home & {lane.region for lane in lanes} for home in homes):
        return random_case(seed + 10_000)
    return make_case(Work(unit, epochs, each, tuple(homes)), tuple(lanes), totals, seconds)


def make_case(work: Work, lanes: tuple[OracleLane, ...], totals: dict[str, int], seconds: int) -> Case:
    """Return a sweep of this work with a deadline, and what the oracle is told of it."""
    sweep = make_sweep(
        space={"epochs": list(work.epochs), "k": {"range": [1, work.each]}},
        where={"instance_types": list(TYPES), "purchases": ["spot", "on_demand"]},
        runtime=f"{work.unit} * epochs",
        plan={"deadline": f"{seconds}s"},
    )
    names: dict[tuple[str, bool], int] = {}
    rows = []
    for lane in lanes:
        number = names[lane.region, lane.spot] = names.get((lane.region, lane.spot), -1) + 1
        facts = {
            "region": lane.region,
            "instance_type": TYPES[number],
            "purchase": "spot" if lane.spot else "on_demand",
            "usd_per_hour": lane.usd_per_hour,
            "on_demand_usd_per_hour": max(lane.usd_per_hour, 2.0),
            "slots": float(lane.slots),
        }
        rows += [candidate(dataset=f"d{n}@1", **facts) for n, home in enumerate(work.homes) if lane.region in home]
    market = make_market(*rows)
    for region, units in totals.items():
        if any(lane.region == region for lane in lanes):
            market = with_total(market, region, units)
    groups = tuple(Group(work.unit * number, work.each, home) for home in work.homes for number in work.epochs)
    return Case(sweep, market, groups, lanes, totals, seconds / HOUR)
