"""Plan 1,000 and 1,000,000 tasks over the lanes of 16 Regions, where slots bind and data may move.

The rivals: a loop that looks for each task's cheapest lane by itself, and greedy ways.
Given a table of real prices, `benchmarks.plans.real` goes on with these, and SkyPilot.

python -m benchmarks.plans.planning TASKS      # one size, in a process of its own, so that its memory can be told
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING

from benchmarks.figure import Figure, run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy as np
    import pandas as pd

    from orchestrator.catalog.market import Market
    from orchestrator.spec.sweep import Sweep

REGIONS = 16
TYPES = 30
DATASETS = 50
SIZES = 4
SEED = 7


def measure(prices: Path | None = None) -> Iterator[Figure]:
    yield from seeded()
    if prices is not None:
        from benchmarks.plans import real

        yield from real.measure(prices)


def seeded() -> Iterator[Figure]:
    idle = run([sys.executable, "-m", "benchmarks.plans.planning", "0"])
    small, large = (run([sys.executable, "-m", "benchmarks.plans.planning", str(n)]) for n in (1_000, 1_000_000))
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
    gap, greedy = (json.loads(large.output)[key] for key in ("gap", "greedy"))
    yield Figure(
        "plan of 1,000,000 tasks, cost above the proven bound",
        100 * gap,
        "%",
        budget=0.1,
        rival=f"greedy {100 * greedy:.1f} %",
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
            "data": {"move_data": "if_cheaper"},
            "train": {
                "source": "src",
                "entry_point": "train.py",
                "image": "bench:1",
                "checkpoints": {"every": "15m"},
            },
            "space": {
                "epochs": [2**k for k in range(SIZES)],
                "seed": {"range": [1, max(tasks // (DATASETS * SIZES), 1)]},
            },
            "where": {"instance_types": [f"ml.t{k}.xlarge" for k in range(TYPES)]},
            "runtime": "0.25 * epochs",
        }
    )


def market() -> Market:
    """Every dataset in one or two Regions, to be copied to all others, at seeded prices."""
    import numpy as np
    import pandas as pd

    from orchestrator.catalog.market import CANDIDATES, TRANSFERS, Market
    from orchestrator.catalog.market import DATASETS as COLUMNS

    random = np.random.default_rng(SEED)
    names = [f"campaign-{k:02}@v1" for k in range(DATASETS)]
    size = (random.lognormal(np.log(800), 1.2, DATASETS) * 1e9).astype(np.int64)
    datasets = pd.DataFrame({"dataset": names, "campaign": [n[:-3] for n in names], "version": "v1", "bytes": size})
    lanes = lanes_of(random)
    candidates = datasets[["dataset", "bytes"]].merge(lanes, how="cross")
    candidates["s3_uri"] = "s3://data-" + candidates["region"] + "/" + candidates["dataset"]
    homes = {
        name: [f"region-{r}" for r in random.choice(REGIONS, random.integers(1, 3), replace=False)] for name in names
    }
    pairs = zip(candidates["dataset"], candidates["region"], strict=True)
    candidates["from_region"] = [None if region in homes[name] else homes[name][0] for name, region in pairs]
    candidates["transfer_usd_per_gb"] = np.where(candidates["from_region"].isna(), np.nan, 0.02)
    transfers = pd.DataFrame({name: [] for name in TRANSFERS})
    quotas, uses = quotas_of(lanes)
    return Market(datasets[list(COLUMNS)], candidates[list(CANDIDATES)], transfers, quotas, uses)


def lanes_of(random: np.random.Generator) -> pd.DataFrame:
    import numpy as np
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
    lanes["slots"] = random.integers(1, 100, len(lanes)).astype(float)
    always = {"interruptions_per_hour": np.nan, "opens_h": 0.0, "closes_h": np.inf, "site": None}
    return lanes.assign(**always)


def quotas_of(lanes: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """QUOTAS and USES of lanes with so many `slots`: each lane under a quota of its own."""
    from orchestrator.catalog.market import QUOTAS, USES

    rows = lanes.assign(quota=lanes["instance_type"] + "/" + lanes["purchase"], site="", held=0)
    quotas = rows.assign(units=rows["slots"].astype("int64"))[list(QUOTAS)]
    return quotas, rows.assign(units=1)[list(USES)]


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
    from benchmarks.plans import greedy
    from orchestrator.planner.offer.formulate import formulate
    from orchestrator.planner.solve import solve

    asked, known = sweep(tasks), market()
    start = time.process_time()
    plan = solve(asked, known) if tasks else None
    taken = time.process_time() - start
    if plan and plan.tasks != tasks:
        raise SystemExit(f"planned {plan.tasks} tasks, not {tasks}")
    figures = {"solve_s": taken, "naive_s": naive(asked, known, tasks) if 0 < tasks <= 1_000 else 0.0}
    if plan:
        usd, _ = greedy.best(formulate(asked, known).offer.problem.within(24))
        figures |= {"gap": plan.gap, "greedy": usd / plan.bound - 1}
    print(json.dumps(figures))


if __name__ == "__main__":
    main(int(sys.argv[1]))
