"""Prices in tiers, by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.plan.tiers import tiered_usd

TIERS = [(0.0, 0.09), (10_240.0, 0.085), (51_200.0, 0.07), (153_600.0, 0.05)]


@given(st.floats(0, 10**6), st.floats(0, 10**6))
def test_more_data_never_costs_less(one: float, other: float) -> None:
    small, large = sorted((one, other))
    assert tiered_usd(small, TIERS) <= tiered_usd(large, TIERS)


def test_each_part_is_paid_at_the_price_of_its_tier() -> None:
    assert tiered_usd(10_240, TIERS) == pytest.approx(921.6)
    assert tiered_usd(51_200, TIERS) == pytest.approx(921.6 + 40_960 * 0.085)


def test_between_regions_of_one_cloud_it_is_not_free() -> None:
    assert tiered_usd(500, [(0.0, 0.02)]) == 10
