"""Problems to solve: made by hand, small ones of all kinds, and larger ones whose slots bind."""

from __future__ import annotations

from itertools import product
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import strategies as st

from orchestrator.planner.model.choices import NO_COPY, NO_POOL, Choices
from orchestrator.planner.model.problem import Limit, Pool, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

HOURS = [1.0, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0]
HORIZON = 10.0
TOTALS = st.tuples(st.sampled_from([[0, 1], [1, 2], [0, 1, 2]]), st.just([1, 1, 1]), st.integers(1, 4))
"""The lanes that share a quota of instances, the units of each lane's training, and the free units."""
WEIGHED = st.tuples(
    st.sampled_from([[0, 1], [1, 2], [0, 1, 2]]), st.lists(st.sampled_from([1, 2, 4, 8]), min_size=3, max_size=3),
    st.integers(1, 16),
)  # fmt: skip
"""The same of a quota that counts vCPUs, or GPUs."""


def own_limits(slots: Sequence[float], *shared: Limit) -> tuple[Limit, ...]:
    """Return a limit of so many slots for each lane, if they are not inf, and the shared limits."""
    own = [(lane, free) for lane, free in enumerate(slots) if free < inf]
    return (*(Limit(np.array([lane]), np.ones(1), float(free)) for lane, free in own), *shared)


def shared_limit(lanes: Sequence[int], free: float, units: Sequence[float] | None = None) -> Limit:
    """Return a limit over several lanes, of one unit a training unless said."""
    each = np.ones(len(lanes)) if units is None else np.array(units[: len(lanes)], dtype=float)
    return Limit(np.array(lanes), each, float(free))


def make_problem(
    counts: list[int], slots: list[float], rows: list[tuple[int, int, int, float, float, float]], **rest: object
) -> Problem:
    """Return a problem of these `rows`: cohort, lane, copy, hours, wait, usd."""
    rows = sorted(rows, key=lambda row: (row[0], row[5], row[1]))
    cohort, lane, copy, hours, wait, usd = (np.array(column) for column in zip(*rows, strict=True))
    facts = {"charges": [], "horizon": HORIZON, "budget": inf, **rest}
    return Problem(
        counts=np.array(counts),
        lanes=len(slots),
        limits=own_limits(slots),
        charges=np.array(facts["charges"], dtype=float),
        choices=Choices(cohort, lane, copy, hours, wait, usd, promise=2 * usd),
        horizon=float(facts["horizon"]),  # type: ignore[arg-type]
        budget=float(facts["budget"]),  # type: ignore[arg-type]
    ).within(float(facts["horizon"]))  # type: ignore[arg-type]


@st.composite
def small_problems(
    draw: st.DrawFn, *, every_limit: bool = False, weighed: bool = False, counts_of_instances: bool = False
) -> Problem:
    """Draw up to 3 cohorts of 4 tasks on 3 lanes of 2 slots. The third lane has data only by copying it.

    With every limit, the first lane may be paid for already, the second may be ours for some hours only, and any of
    them may share quotas; if these are weighed, a training holds more units of them on one lane than on another. With
    counts of instances, the first two lanes are one lot, where trainings have one instance or several.
    """
    cohorts = draw(st.integers(1, 3))
    counts = draw(st.lists(st.integers(1, 4), min_size=cohorts, max_size=cohorts))
    slots = draw(st.lists(st.sampled_from([1.0, 2.0, inf]), min_size=3, max_size=3))
    charges = draw(st.lists(st.integers(0, 12), min_size=2, max_size=2))
    budget = draw(st.sampled_from([inf, inf, 60.0]))
    opens, closes, totals, pools = 0.0, inf, [], ()
    if every_limit:
        opens = draw(st.sampled_from([0.0, 0.0, 2.0]))
        closes = draw(st.sampled_from([inf, inf, 7.0, 4.5]))
        totals = draw(st.lists(WEIGHED if weighed else TOTALS, min_size=int(weighed), max_size=2))
        pools = (Pool(draw(st.sampled_from([0.25, 0.5, 1.0])), 0.0, draw(st.sampled_from([8.0, inf]))),)
    rows: list[tuple[int, int, int, float, float, float, float, int, float]] = []
    for cohort, lane in product(range(cohorts), range(3)):
        if lane == 0 or draw(st.booleans()):
            copy = cohort % 2 if lane == 2 else NO_COPY
            hours, usd = draw(st.sampled_from(HOURS)), float(draw(st.integers(1, 9)))
            wait = {0: 0.0, 1: opens, 2: 1.0}[lane]
            rows.append((cohort, lane, copy, hours, wait, usd, 2 * usd, NO_POOL, 0.0))
            if lane == 0 and every_limit and draw(st.booleans()):
                rows.append((cohort, lane, copy, hours, wait, 0.0, 2 * usd, 0, usd * 0.75))
    lots, instances = np.arange(3), np.ones(3, dtype=np.int64)
    limits = own_limits(slots, *(shared_limit(lanes, free, units) for lanes, units, free in totals))
    if counts_of_instances:
        lots, instances = np.array([0, 0, 1]), np.array([1, draw(st.integers(2, 3)), 1])
        closes = inf
        limits = (shared_limit([0, 1], draw(st.integers(1, 6)), instances.tolist()), *own_limits([inf, inf, slots[2]]))
    in_order = sorted(rows, key=lambda row: (row[0], row[5], row[1], row[7]))
    return Problem(
        counts=np.array(counts),
        lanes=3,
        charges=np.array(charges, dtype=float),
        choices=Choices(*(np.array(column) for column in zip(*in_order, strict=True))),
        horizon=HORIZON,
        budget=budget,
        closes=np.array([inf, closes, inf]),
        limits=limits,
        pools=pools,
        lots=lots,
        instances=instances,
    ).within(HORIZON)


def random_problem(seed: int, *, cohorts: int = 12, lanes: int = 20, tasks: int = 400, longest: float = 1.0) -> Problem:
    """Return cohorts with data on some lanes and copies to the others, and so few slots that they bind."""
    random = np.random.default_rng(seed)
    length = longest * random.choice([0.125, 0.25, 0.5, 1.0], cohorts)
    pace, price = random.uniform(0.5, 2, lanes), random.uniform(0.3, 3, lanes)
    region = np.arange(lanes) % 4
    rows, charges = [], random.uniform(1, 60, cohorts * 4) * tasks * longest / 1000
    for cohort in range(cohorts):
        home = set(random.choice(4, 2, replace=False).tolist())
        for lane in range(lanes):
            hours = float(length[cohort] * pace[lane])
            copy = NO_COPY if region[lane] in home else cohort * 4 + int(region[lane])
            rows.append((cohort, lane, copy, hours, 0.0 if copy == NO_COPY else 0.25, hours * float(price[lane])))
    counts = random.multinomial(tasks, np.ones(cohorts) / cohorts) + 1
    load = float(counts @ length) * float(pace.mean())
    slots = np.ceil(random.pareto(1.5, lanes) + 0.5)
    slots = np.ceil(slots * 1.3 * load / (slots.sum() * 24))
    return make_problem(counts.tolist(), slots.tolist(), rows, charges=charges.tolist(), horizon=24.0)
