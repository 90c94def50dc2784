"""Plan random sweeps of a middling size, as most teams have them: how far from the bound are the plans, and how slow?

Cohorts of mixed lengths with a deadline, whose data lies in one or two Regions and may be copied, and quotas that bind.

python -m benchmarks.plans.medium SEED ...      # these sweeps, one after another, in one process
"""

from __future__ import annotations

import json
import sys
import time
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.figure import Figure, run
from benchmarks.plans.planning import quotas_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    import pandas as pd

    from orchestrator.catalog.market import Market
    from orchestrator.spec.sweep import Sweep

SWEEPS = 25
DEADLINES = (8, 12, 24)


def measure() -> Iterator[Figure]:
    made = run([sys.executable, "-m", "benchmarks.plans.medium", *(str(seed) for seed in range(SWEEPS))])
    found = [json.loads(line) for line in made.output.splitlines()]
    gaps, seconds = ([each[name] for each in found] for name in ("gap", "cpu_s"))
    what = f"{SWEEPS} random medium sweeps"
    yield Figure(f"{what}: above bound, median", 100 * median(gaps), "%", budget=0.3)
    yield Figure(f"{what}: above bound, worst", 100 * max(gaps), "%", budget=0.8)
    yield Figure(f"{what}: CPU, median", median(seconds), "s", budget=1)
    yield Figure(f"{what}: CPU, worst", max(seconds), "s", budget=5)


def example(seed: int) -> tuple[Sweep, Market]:
    """Return the sweep of this number, and its market."""
    import numpy as np

    random = np.random.default_rng([2026, seed])
    regions, types = int(random.integers(3, 9)), int(random.integers(5, 13))
    datasets, sizes = int(random.integers(5, 16)), int(random.integers(3, 6))
    lengths = np.round(np.sort(random.uniform(0.2, 4.0, sizes)), 3).tolist()
    each = max(int(random.integers(1_000, 13_000)) // (datasets * sizes), 1)
    deadline = int(random.choice(DEADLINES))
    return _sweep(types, lengths, each, deadline), _market(random, regions, types, datasets, lengths, each, deadline)


def _sweep(types: int, lengths: list[float], each: int, deadline: int) -> Sweep:
    from orchestrator.spec.sweep import Sweep

    return Sweep.model_validate(
        {
            "name": "medium",
            "data": {"move_data": "if_cheaper"},
            "train": {"source": "src", "entry_point": "t.py", "image": "bench:1", "checkpoints": {"every": "15m"}},
            "space": {"size": lengths, "seed": {"range": [1, each]}},
            "where": {"instance_types": [f"ml.t{number}" for number in range(types)]},
            "runtime": {f"ml.t{number}": f"{pace:.3f} * size" for number, pace in enumerate(_paces(types))},
            "plan": {"deadline": f"{deadline}h"},
        }
    )


def _paces(types: int) -> list[float]:
    """Hours on each type for an hour on the slowest: from 1 down to a fifth."""
    return [0.2 ** (number / max(types - 1, 1)) for number in range(types)]


def _market(
    random: np.random.Generator,
    regions: int,
    types: int,
    datasets: int,
    lengths: list[float],
    each: int,
    deadline: int,
) -> Market:
    import numpy as np
    import pandas as pd

    from orchestrator.catalog.market import CANDIDATES, TRANSFERS, Market, table
    from orchestrator.catalog.market import DATASETS as COLUMNS

    lanes = _lanes(random, regions, types)
    work = datasets * each * sum(lengths)
    held = float((lanes["share"] / lanes["pace"]).sum()) * deadline
    room = random.uniform(1.15, 2.0)
    lanes["slots"] = np.ceil(lanes["share"] * room * work / held)
    names = [f"campaign-{number:02}@v1" for number in range(datasets)]
    size = (random.lognormal(np.log(300), 1.0, datasets) * 1e9).astype(np.int64)
    known = pd.DataFrame({"dataset": names, "campaign": [name[:-3] for name in names], "version": "v1", "bytes": size})
    offered = known[["dataset", "bytes"]].merge(lanes, how="cross")
    offered["s3_uri"] = "s3://data-" + offered["region"] + "/" + offered["dataset"]
    homes = {name: [f"r-{r}" for r in random.choice(regions, random.integers(1, 3), replace=False)] for name in names}
    pairs = zip(offered["dataset"], offered["region"], strict=True)
    offered["from_region"] = [None if region in homes[name] else homes[name][0] for name, region in pairs]
    offered["transfer_usd_per_gb"] = np.where(offered["from_region"].isna(), np.nan, random.choice([0.02, 0.05, 0.09]))
    quotas, uses = quotas_of(lanes)
    if random.random() < 0.5:  # a total over all spot instances of each Region
        spot = uses[uses["purchase"] == "spot"].assign(quota="*/spot")
        totals = lanes[lanes["purchase"] == "spot"].groupby("region")["slots"].sum()
        units = [("sagemaker", region, "*/spot", int(np.ceil(0.8 * slots)), 0) for region, slots in totals.items()]
        quotas = pd.concat([quotas, pd.DataFrame(units, columns=list(quotas))], ignore_index=True)
        uses = pd.concat([uses, spot], ignore_index=True)
    return Market(known[list(COLUMNS)], offered[list(CANDIDATES)], table((), TRANSFERS), quotas, uses)


def _lanes(random: np.random.Generator, regions: int, types: int) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    paces = _paces(types)
    price = [float(random.uniform(0.8, 1.3)) / pace for pace in paces]
    rows = []
    for region in range(regions):
        dear = float(random.uniform(0.9, 1.3))
        for number in range(types):
            usd = price[number] * dear * float(random.uniform(0.9, 1.1))
            spot = usd * float(random.uniform(0.25, 0.9))
            for purchase, paid in (("on_demand", usd), ("spot", spot)):
                if random.random() < 0.9:
                    rows.append((f"r-{region}", f"ml.t{number}", purchase, paid, usd, paces[number]))
    columns = ["region", "instance_type", "purchase", "usd_per_hour", "on_demand_usd_per_hour", "pace"]
    lanes = pd.DataFrame(rows, columns=columns)
    lanes["share"] = random.pareto(1.5, len(lanes)) + 0.1
    always = {"interruptions_per_hour": np.nan, "opens_h": 0.0, "closes_h": np.inf, "site": None}
    return lanes.assign(platform="sagemaker", **always)


def main(seeds: list[int]) -> None:
    from orchestrator.planner.solve import solve

    for seed in seeds:
        asked, known = example(seed)
        start = time.process_time()
        plan = solve(asked, known)
        taken = time.process_time() - start
        facts = {
            "seed": seed,
            "tasks": plan.tasks,
            "lanes": len(known.uses.drop_duplicates(["region", "instance_type"])),
        }
        print(json.dumps({**facts, "cpu_s": taken, "gap": plan.gap, "usd": plan.usd, "bound": plan.bound}), flush=True)


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]])
