"""Transfer between Regions is paid for, tier by tier."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.catalog.market import STORAGE, TRANSFERS, table
from orchestrator.planner.offer.copy_prices import COPIES, drop_worse_copies, price_copies


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=5))
def test_of_all_sources_only_those_stay_that_no_other_beats(facts: list[tuple[int, int]]) -> None:
    rows = [
        ("alps", "us-west-2", f"r-{n}", "s3://", 1, float(usd), float(hours)) for n, (usd, hours) in enumerate(facts)
    ]
    kept = drop_worse_copies(pd.DataFrame(rows, columns=list(COPIES)))
    found = set(zip(kept["usd"], kept["hours"], strict=True))
    assert len(found) == len(kept)
    for usd, hours in facts:
        assert any(other_usd <= usd and other_hours <= hours for other_usd, other_hours in found)
        beaten = any(other != (usd, hours) and other[0] <= usd and other[1] <= hours for other in facts)
        assert ((usd, hours) in found) is not beaten


def test_a_copy_is_kept_for_a_month_at_the_price_of_where_it_goes() -> None:
    facts = {"dataset": "alps", "from_region": "us-east-1", "s3_uri": "s3://", "bytes": 100 * 10**9}
    wanted = pd.DataFrame([{**facts, "region": region, "transfer_usd_per_gb": 0.02} for region in ("dear", "untold")])
    storage = table([("dear", 0.0, 0.05), ("dear", 60.0, 0.04)], STORAGE)
    usd = price_copies(wanted, table((), TRANSFERS), storage).set_index("region")["usd"]
    assert usd["dear"] == pytest.approx(2 + 60 * 0.05 + 40 * 0.04)
    assert usd["untold"] == pytest.approx(2 + 100 * 0.023)
