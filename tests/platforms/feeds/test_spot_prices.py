"""The spot price is the one below which all zones together were for half of the time."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.platforms.sagemaker.feeds.ec2_spot_prices import WINDOW, median_price, read
from tests.platforms.feeds.answers import Answers

NOW = datetime(2026, 11, 22, 12, tzinfo=timezone.utc)
LINUX = "Linux/UNIX"


def change(hours_ago: float, usd: str, zone: str = "use1-az1", product: str = LINUX) -> dict[str, Any]:
    return {
        "InstanceType": "g5.xlarge",
        "AvailabilityZone": "us-east-1a",
        "AvailabilityZoneId": zone,
        "ProductDescription": product,
        "Timestamp": NOW - timedelta(hours=hours_ago),
        "SpotPrice": usd,
    }


def spot(*changes: dict[str, Any]) -> float:
    reading = read(Answers({"SpotPriceHistory": list(changes)}), "us-east-1", NOW)  # type: ignore[arg-type]
    (row,) = reading.rows
    assert isinstance(row["usd_per_hour"], float)
    return row["usd_per_hour"]


def test_the_window_and_both_names_of_linux_are_asked_for() -> None:
    answers = Answers({"SpotPriceHistory": []})
    read(answers, "eu-west-1", NOW)  # type: ignore[arg-type]
    assert (answers.asked["StartTime"], answers.asked["EndTime"]) == (NOW - WINDOW, NOW)
    assert answers.asked["ProductDescriptions"] == [LINUX, "Linux/UNIX (Amazon VPC)"]
    assert answers.asked["region"] == "eu-west-1"


def test_a_price_from_before_the_window_holds_until_it_changes() -> None:
    assert spot(change(500, "0.4"), change(1, "0.9")) == 0.4


def test_a_moments_price_does_not_count_for_more_than_its_moment() -> None:
    assert spot(change(500, "0.4"), change(3, "9.9"), change(2.9, "0.4")) == 0.4


def test_all_zones_count() -> None:
    assert spot(change(9, "0.3", "az1"), change(9, "0.5", "az2"), change(9, "0.7", "az3")) == 0.5


def test_changes_come_in_any_order() -> None:
    assert spot(change(1, "0.9"), change(5.9, "0.4"), change(5, "0.5")) == 0.5


def test_a_clock_that_is_slow_does_not_matter() -> None:
    assert spot(change(-0.5, "0.6")) == 0.6


def test_what_is_no_price_is_left_out() -> None:
    answers = Answers({"SpotPriceHistory": [change(1, "0.5"), change(2, "n/a"), change(2, "0"), change(2, "nan")]})
    reading = read(answers, "us-east-1", NOW)  # type: ignore[arg-type]
    assert len(reading.left_out) == 3
    assert [row["usd_per_hour"] for row in reading.rows] == [0.5]


SERIES = st.lists(st.tuples(st.integers(0, 360), st.integers(1, 50)), min_size=1, max_size=8)


@given(st.lists(SERIES, min_size=1, max_size=5))
def test_half_of_the_time_was_at_that_price_or_below(series: list[list[tuple[int, int]]]) -> None:
    """An oracle by minutes: the price of each market in each minute of the window, all sorted."""
    markets = [[(NOW - timedelta(minutes=ago), float(usd)) for ago, usd in changes] for changes in series]
    minutes = [
        max((at, usd) for at, usd in changes if at <= NOW - timedelta(minutes=minute))[1]
        for changes in markets
        for minute in range(1, 361)
        if any(at <= NOW - timedelta(minutes=minute) for at, _ in changes)
    ]
    found = median_price(markets, NOW)
    assert 2 * sum(usd <= found for usd in minutes) >= len(minutes)
    assert 2 * sum(usd < found for usd in minutes) <= len(minutes)


@pytest.mark.parametrize(
    "zone",
    [
        {"AvailabilityZoneId": "use1-bos1-az1", "AvailabilityZone": "us-east-1-bos-1a"},
        {"AvailabilityZone": "us-east-1-bos-1a"},
        {"AvailabilityZone": "us-east-1-wl1-bos-wlz-1"},
    ],
)
def test_prices_of_local_zones_are_not_the_regions(zone: dict[str, str]) -> None:
    local = {name: value for name, value in change(3, "9.0").items() if not name.startswith("Availability")} | zone
    assert spot(change(4, "0.5"), local) == 0.5
