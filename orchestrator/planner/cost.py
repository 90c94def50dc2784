"""What a cohort's task costs at each place that it may go to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.planner.cohorts import Cohort

TIE_BREAK = ["region", "instance_type", "purchase", "platform", "s3_uri"]
"""Of places that cost the same, the first in this order wins; so on_demand before spot at the same price."""

OPTIONS = ("cohort", "candidate", "region", "hours", "usd")


def options(cohorts: Sequence[Cohort], candidates: pd.DataFrame, instances: int) -> pd.DataFrame:
    """OPTIONS: every cohort at every candidate for its dataset, cheapest first; `candidate` is the row's label."""
    ordered = candidates.sort_values(TIE_BREAK, kind="stable")
    ordered = ordered[["dataset", "region", "usd_per_hour"]].reset_index(names="candidate")
    ordered["order"] = range(len(ordered))
    tasks = pd.DataFrame(
        {
            "cohort": range(len(cohorts)),
            "dataset": [cohort.dataset for cohort in cohorts],
            "hours": [cohort.hours for cohort in cohorts],
        }
    )
    found = tasks.merge(ordered, on="dataset")
    found["usd"] = found["hours"] * found["usd_per_hour"] * instances
    found = found.sort_values(["cohort", "usd", "order"], kind="stable", ignore_index=True)
    return found[list(OPTIONS)]
