"""Plan 1,000 and 1,000,000 tasks over the lanes of 16 Regions; the rival looks for each task's cheapest lane by itself.

python -m benchmarks.planning TASKS      # one size, in a process of its own, so that its memory can be told
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING

from benchmarks.figure import Figure, run

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    import pandas as pd

    from orchestrator.catalog.market import Market
    from orchestrator.spec.sweep import Sweep

REGIONS = 16
TYPES = 30
DATASETS = 50
SIZES = 4
SEED = 7


def measure() -> Iterator[Figure]:
    idle = run([sys.executable, "-m", "benchmarks.planning", "0"])
    small, large = (run([sys.executable, "-m", "benchmarks.planning", str(n)]) for n in (1_000, 1_000_000))
    mine, naive = (json.loads(small.output)[key] for key in ("solve_s", "naive_s"))
    yield Figure(
        "plan of 1,000 tasks, CPU beyond imports", mine, "s", budget=1, rival=f"a loop over tasks {naive:.2f} s"
    )
    yield Figure(
        "plan of 1,000,000 tasks, CPU beyond imports",
        json.loads(large.output)["solve_s"],
        "s",
        budget=5,
        rival=f"the loop would take {naive * 1000:,.0f} s",
    )
    yield Figure(
        "plan of 1,000,000 tasks, peak memory",
        large.peak_mb,
        "MB",
        budget=400,
        rival=f"of which imports and prices {idle.peak_mb:.0f} MB",
    )


def sweep(tasks: int) -> Sweep:
    """The tasks are spread over all datasets and sizes: 200 cohorts."""
    from orchestrator.spec.sweep import Sweep

    return Sweep.model_validate(
        {
            "name": "bench",
            "train": {"source": "src", "entry_point": "train.py", "image": "bench:1"},
            "space": {
                "epochs": [2**k for k in range(SIZES)],
                "seed": {"range": [1, max(tasks // (DATASETS * SIZES), 1)]},
            },
            "where": {"instance_types": [f"ml.t{k}.xlarge" for k in range(TYPES)]},
            "runtime": "0.25 * epochs",
        }
    )


def market() -> Market:
    """Every dataset on every lane, at seeded prices."""
    import numpy as np
    import pandas as pd

    from orchestrator.catalog.market import CANDIDATES, TRANSFERS, Market
    from orchestrator.catalog.market import DATASETS as COLUMNS

    random = np.random.default_rng(SEED)
    names = [f"campaign-{k:02}@v1" for k in range(DATASETS)]
    datasets = pd.DataFrame({"dataset": names, "campaign": [n[:-3] for n in names], "version": "v1", "bytes": 10**12})
    lanes = lanes_of(random)
    candidates = pd.DataFrame({"dataset": names}).merge(lanes, how="cross")
    candidates["s3_uri"] = "s3://data-" + candidates["region"] + "/" + candidates["dataset"]
    candidates["bytes"] = 10**12
    candidates["from_region"], candidates["transfer_usd_per_gb"] = None, np.nan
    transfers = pd.DataFrame({name: [] for name in TRANSFERS})
    return Market(datasets[list(COLUMNS)], candidates[list(CANDIDATES)], transfers)


def lanes_of(random: np.random.Generator) -> pd.DataFrame:
    import pandas as pd

    keys = [
        ("sagemaker", f"region-{r}", f"ml.t{t}.xlarge", purchase)
        for r in range(REGIONS)
        for t in range(TYPES)
        for purchase in ("on_demand", "spot")
    ]
    lanes = pd.DataFrame(keys, columns=["platform", "region", "instance_type", "purchase"])
    on_demand = random.uniform(0.5, 40, len(lanes) // 2).repeat(2)
    lanes["on_demand_usd_per_hour"] = on_demand
    lanes["usd_per_hour"] = on_demand * (lanes["purchase"] == "spot").map({True: 0.35, False: 1.0})
    lanes["slots"] = random.integers(1, 200, len(lanes)).astype(float)
    return lanes


def naive(sweep: Sweep, market: Market, tasks: int) -> float:
    """CPU seconds of the straightforward way: for each task, the cheapest row of its dataset."""
    rows: dict[str, list[tuple[float, str, str]]] = {}
    columns = (market.candidates[name].tolist() for name in ("dataset", "usd_per_hour", "region", "instance_type"))
    for dataset, usd, region, kind in zip(*columns, strict=True):
        rows.setdefault(dataset, []).append((usd, region, kind))
    datasets = list(rows)
    start = time.process_time()
    for number in range(tasks):
        dataset, point = divmod(number, len(sweep.points))
        hours = 0.25 * float(sweep.points.point(point)["epochs"])
        min((usd * hours, region, kind) for usd, region, kind in rows[datasets[dataset]])
    return time.process_time() - start


def main(tasks: int) -> None:
    from orchestrator.planner.solve import solve

    asked, known = sweep(tasks), market()
    start = time.process_time()
    plan = solve(asked, known) if tasks else None
    taken = time.process_time() - start
    if plan and plan.tasks != tasks:
        raise SystemExit(f"planned {plan.tasks} tasks, not {tasks}")
    print(json.dumps({"solve_s": taken, "naive_s": naive(asked, known, tasks) if 0 < tasks <= 1_000 else 0.0}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
