"""Plan on real prices, where quotas bind: what our plans cost beside the proven bound, greedy, and SkyPilot's time.

The price table is one of SkyPilot's catalog, a row for each zone: InstanceType, Region, Price, SpotPrice.

python -m benchmarks.plans.real FILE DATASETS TASKS ROOM      # one plan, in a process of its own
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.figure import Figure, run
from benchmarks.plans import skypilot
from benchmarks.plans.planning import quotas_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from orchestrator.catalog.market import Market
    from orchestrator.spec.sweep import Sweep

HORIZON_HOURS = 24
SIZES = (1, 2, 4, 8)
REFERENCE = "ml.p3.2xlarge"
"""One V100, on which a task takes as many hours as it has epochs."""
USD_PER_GB = 0.02
"""Between Regions, as most pairs are."""
SEED = 11
CASES = ((10, 400, 1.25), (40, 20_000, 1.25), (40, 20_000, 3.0))
"""Datasets, tasks, and how many times the work the quotas could hold."""


def measure(prices: Path) -> Iterator[Figure]:
    for datasets, tasks, room in CASES:
        words = [str(word) for word in (prices, datasets, tasks, room)]
        made = json.loads(run([sys.executable, "-m", "benchmarks.plans.real", *words]).output)
        rival = f"greedy {100 * made['greedy']:.1f} %" + (f", {made['left']:,} tasks left over" if made["left"] else "")
        what = f"{tasks:,} tasks, real prices, quotas {room:g} x the work"
        yield Figure(f"{what}: above bound", 100 * made["gap"], "%", rival=rival)
        yield Figure(f"{what}: CPU", made["cpu_s"], "s")
    each = made["cpu_s"] / tasks * 1000
    yield Figure("CPU for each 1,000 tasks of it", each, "s", rival=skypilot.seconds_each(prices))


def table(path: Path) -> pd.DataFrame:
    """region, instance_type, purchase and price, each at the zone where it is cheapest; only GPUs whose speed is known.

    Where a Region sells no spot, or for more than on-demand, the row is missing, or stays as it is."""
    import pandas as pd

    from orchestrator.planner.hours.speed import speed

    rows = pd.read_csv(path, usecols=["InstanceType", "Region", "Price", "SpotPrice"])
    rows["instance_type"] = "ml." + rows["InstanceType"]
    rows = rows[[speed(name) is not None for name in rows["instance_type"]]]
    cheapest = rows.groupby(["Region", "instance_type"], as_index=False)[["Price", "SpotPrice"]].min()
    both = cheapest.rename(columns={"Region": "region", "Price": "on_demand", "SpotPrice": "spot"})
    lanes = both.melt(["region", "instance_type"], ["on_demand", "spot"], "purchase", "usd_per_hour")
    lanes = lanes.merge(both[["region", "instance_type", "on_demand"]], on=["region", "instance_type"])
    return lanes.dropna().rename(columns={"on_demand": "on_demand_usd_per_hour"}).reset_index(drop=True)


def sweep(types: list[str], datasets: int, tasks: int) -> Sweep:
    from orchestrator.spec.sweep import Sweep

    each = max(tasks // (datasets * len(SIZES)), 1)
    return Sweep.model_validate(
        {
            "name": "bench",
            "data": {"move_data": "if_cheaper"},
            "train": {"source": "src", "entry_point": "t.py", "image": "bench:1", "checkpoints": {"every": "15m"}},
            "space": {"epochs": list(SIZES), "seed": {"range": [1, each]}},
            "where": {"instance_types": types},
            "runtime": {REFERENCE: "1.0 * epochs"},
            "plan": {"horizon": f"{HORIZON_HOURS}h"},
        }
    )


def market(lanes: pd.DataFrame, datasets: int, tasks: int, room: float) -> Market:
    """Every dataset in one or two Regions, to be copied to all others. A few quotas are large, most are small; all
    together they hold `room` times the work."""
    import numpy as np
    import pandas as pd

    from orchestrator.catalog.market import CANDIDATES, TRANSFERS, Market, table
    from orchestrator.catalog.market import DATASETS as COLUMNS
    from orchestrator.planner.hours.speed import speed

    random = np.random.default_rng(SEED)
    names = [f"campaign-{k:02}@v1" for k in range(datasets)]
    size = (random.lognormal(np.log(300), 1.0, datasets) * 1e9).astype(np.int64)
    known = pd.DataFrame({"dataset": names, "campaign": [name[:-3] for name in names], "version": "v1", "bytes": size})
    regions = sorted(lanes["region"].unique())
    speeds = np.array([speed(name) for name in lanes["instance_type"]])
    share = random.pareto(1.5, len(lanes)) + 0.1
    work = tasks * float(np.mean(SIZES))
    slots = np.ceil(share * room * work / float((share * speeds * HORIZON_HOURS).sum()))
    lanes = lanes.assign(platform="sagemaker", slots=slots, site=None)
    lanes = lanes.assign(interruptions_per_hour=np.nan, opens_h=0.0, closes_h=np.inf)
    offered = known[["dataset", "bytes"]].merge(lanes, how="cross")
    offered["s3_uri"] = "s3://data-" + offered["region"] + "/" + offered["dataset"]
    homes = {name: list(random.choice(regions, random.integers(1, 3), replace=False)) for name in names}
    pairs = zip(offered["dataset"], offered["region"], strict=True)
    offered["from_region"] = [None if region in homes[name] else homes[name][0] for name, region in pairs]
    offered["transfer_usd_per_gb"] = np.where(offered["from_region"].isna(), np.nan, USD_PER_GB)
    quotas, uses = quotas_of(lanes)
    return Market(known[list(COLUMNS)], offered[list(CANDIDATES)], table((), TRANSFERS), quotas, uses)


def main(prices: str, datasets: int, tasks: int, room: float) -> None:
    from benchmarks.plans import greedy
    from orchestrator.planner.offer.formulate import formulate
    from orchestrator.planner.solve import solve

    lanes = table(Path(prices))
    types = sorted(lanes["instance_type"].unique())
    asked, known = sweep(types, datasets, tasks), market(lanes, datasets, tasks, room)
    start = time.process_time()
    plan = solve(asked, known)
    taken = time.process_time() - start
    usd, left = greedy.best(formulate(asked, known).offer.problem.within(HORIZON_HOURS))
    print(json.dumps({"cpu_s": taken, "gap": plan.gap, "greedy": usd / plan.bound - 1, "left": left, "usd": plan.usd}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
