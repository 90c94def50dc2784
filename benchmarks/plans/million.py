"""Plan a million tasks in ways that are hard: mixed lengths, spot without checkpoints, many cohorts or many lanes.

A budget may bind, or be too small; and quotas over all types of a Region may be too small for what is asked.

python -m benchmarks.plans.million CASE      # one plan, in a process of its own
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.figure import Figure, run
from benchmarks.plans import planning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.catalog.market import Market
    from orchestrator.spec.sweep import Sweep

TASKS = 1_000_000
SEED = 5
BUDGET, TOO_SMALL = 21_300_000, 20_000_000
"""$ that bind: the cheapest plan promises 2 % more. And $ of which too little can be promised."""
TOTAL = 0.7
"""The part of their lanes' slots that all types of a Region may hold together: the work needs more."""


class Goal(NamedTuple):
    what: str
    gap: float | None
    """% above the bound. None, if it must be refused."""
    cpu_s: float
    peak_mb: float


CASES = {
    "mixed": Goal("mixed runtimes", 0.5, 8, 400),
    "spot": Goal("spot without checkpoints", 0.5, 5, 400),
    "cohorts": Goal("1,000 cohorts x 960 lanes", 0.5, 5, 400),
    "lanes": Goal("200 cohorts x 2,016 lanes", 0.5, 5, 400),
    "budget": Goal("a budget binds", 1, 10, 400),
    "no-budget": Goal("a budget is refused", None, 5, 400),
    "no-room": Goal("totals are refused", None, 5, 400),
}


def measure() -> Iterator[Figure]:
    for case, goal in CASES.items():
        made = run([sys.executable, "-m", "benchmarks.plans.million", case])
        found = json.loads(made.output)
        what = f"1,000,000 tasks, {goal.what}"
        if goal.gap is not None:
            yield Figure(f"{what}: above bound", 100 * found["gap"], "%", budget=goal.gap)
        yield Figure(f"{what}: CPU", found["cpu_s"], "s", budget=goal.cpu_s)
        yield Figure(f"{what}: memory", made.peak_mb, "MB", budget=goal.peak_mb)


def sweep(case: str) -> Sweep:
    """The sweep of `benchmarks.plans.planning`, as this case has it."""
    import numpy as np

    from orchestrator.spec.sweep import Sweep

    facts = planning.sweep(TASKS).model_dump(exclude_unset=True)
    if case in ("budget", "no-budget"):
        facts["plan"] = {"minimize": "cost", "budget": BUDGET if case == "budget" else TOO_SMALL}
    if case == "spot":
        del facts["train"]["checkpoints"]
    if case == "mixed":
        random = np.random.default_rng(SEED)
        facts["runtime"] = {
            name: f"{random.uniform(0.05, 0.4):.3f} + {random.uniform(0.1, 0.4):.3f} * epochs"
            for name in facts["where"]["instance_types"]
        }
    return Sweep.model_validate(facts)


def with_totals(market: Market) -> Market:
    """Return the market with a quota for each Region that all its lanes are under."""
    import pandas as pd

    slots = market.quotas.groupby(["platform", "region"], as_index=False)["units"].sum()
    totals = slots.assign(quota="*/all", units=(TOTAL * slots["units"]).astype("int64"), held=0)
    quotas = pd.concat([market.quotas, totals[list(market.quotas)]], ignore_index=True)
    return replace(market, quotas=quotas, uses=pd.concat([market.uses, market.uses.assign(quota="*/all")]))


def main(case: str) -> None:
    from orchestrator.errors import InfeasibleError, Refused
    from orchestrator.planner.solve import solve

    if case == "cohorts":
        planning.DATASETS = 250
    if case == "lanes":
        planning.TYPES = 63
    asked, known = sweep(case), planning.market()
    if case == "no-room":
        known = with_totals(known)
    start = time.process_time()
    try:
        plan = solve(asked, known)
    except (InfeasibleError, Refused) as refusal:
        if CASES[case].gap is not None:
            raise
        figures: dict[str, object] = {"refusal": refusal.message, "hint": refusal.hint}
    else:
        figures = {"gap": plan.gap, "usd": plan.usd, "bound": plan.bound}
    print(json.dumps({"cpu_s": time.process_time() - start, **figures}))


if __name__ == "__main__":
    main(sys.argv[1])
