"""Plan a million tasks in ways that are hard: mixed lengths, spot without checkpoints, many cohorts or many lanes.

python -m benchmarks.million CASE      # one plan, in a process of its own
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

from benchmarks import planning
from benchmarks.figure import Figure, run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.spec.sweep import Sweep

TASKS = 1_000_000
SEED = 5


class Goal(NamedTuple):
    what: str
    gap: float
    """% above the bound."""
    cpu_s: float
    peak_mb: float


CASES = {
    "mixed": Goal("mixed runtimes", 0.5, 8, 400),
    "spot": Goal("spot without checkpoints", 0.5, 5, 400),
    "cohorts": Goal("1,000 cohorts x 960 lanes", 0.5, 5, 400),
    "lanes": Goal("200 cohorts x 2,016 lanes", 0.5, 5, 400),
}


def measure() -> Iterator[Figure]:
    for case, goal in CASES.items():
        made = run([sys.executable, "-m", "benchmarks.million", case])
        found = json.loads(made.output)
        what = f"1,000,000 tasks, {goal.what}"
        yield Figure(f"{what}: above bound", 100 * found["gap"], "%", budget=goal.gap)
        yield Figure(f"{what}: CPU", found["cpu_s"], "s", budget=goal.cpu_s)
        yield Figure(f"{what}: memory", made.peak_mb, "MB", budget=goal.peak_mb)


def sweep(case: str) -> Sweep:
    """The sweep of `benchmarks.planning`, as this case has it."""
    import numpy as np

    from orchestrator.spec.sweep import Sweep

    facts = planning.sweep(TASKS).model_dump(exclude_unset=True)
    if case == "spot":
        del facts["train"]["checkpoints"]
    if case == "mixed":
        random = np.random.default_rng(SEED)
        facts["runtime"] = {
            name: f"{random.uniform(0.05, 0.4):.3f} + {random.uniform(0.1, 0.4):.3f} * epochs"
            for name in facts["where"]["instance_types"]
        }
    return Sweep.model_validate(facts)


def main(case: str) -> None:
    from orchestrator.planner.solve import solve

    if case == "cohorts":
        planning.DATASETS = 250
    if case == "lanes":
        planning.TYPES = 63
    asked, known = sweep(case), planning.market()
    start = time.process_time()
    plan = solve(asked, known)
    print(json.dumps({"cpu_s": time.process_time() - start, "gap": plan.gap, "usd": plan.usd, "bound": plan.bound}))


if __name__ == "__main__":
    main(sys.argv[1])
