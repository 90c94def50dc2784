from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from orchestrator.catalog.market import Market
from tests.fixtures.sweeps import candidate, make_market


def test_equal_values_have_one_hash_however_pandas_stores_them() -> None:
    market = make_market(candidate(), candidate(region="us-west-2", slots=None, bytes=7))
    stored = [
        market.candidates.astype({"dataset": kind, "region": kind, "bytes": number})
        for kind in ("object", "string", "category")
        for number in ("int64", "float64", "Int64")
    ]
    assert {replace(market, candidates=table).hash for table in stored} == {market.hash}


@pytest.mark.parametrize(
    ("column", "value"), [("usd_per_hour", 0.30000000000000004), ("slots", None), ("region", "us-east-2"), ("bytes", 8)]
)
def test_a_change_of_any_value_changes_the_hash(column: str, value: object) -> None:
    before = candidate(usd_per_hour=0.3, slots=1.0, bytes=7)
    assert make_market(before).hash != make_market(before | {column: value}).hash


def test_the_order_of_rows_is_part_of_a_market() -> None:
    one, two = candidate(), candidate(region="us-west-2")
    assert make_market(one, two).hash != make_market(two, one).hash


def test_an_empty_market_has_a_hash() -> None:
    empty = make_market(datasets=[])
    assert empty.hash == Market(*(pd.DataFrame(columns=table.columns) for table in empty.tables)).hash
