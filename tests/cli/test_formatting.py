from __future__ import annotations

from datetime import datetime

import pytest

from orchestrator.cli.formatting import duration, future_time, money, number, plural, size


@pytest.mark.parametrize(
    ("usd", "text"),
    [(0, "$0.00"), (1.239, "$1.24"), (12345.6, "$12,345.60"), (0.0042, "$0.0042"), (-0.5, "-$0.50"), (0.1, "$0.10")],
)
def test_money_reads_in_cents_and_small_money_in_four_digits(usd: float, text: str) -> None:
    assert money(usd) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, ""),
        (0, "0s"),
        (0.42, "0.4s"),
        (59, "59s"),
        (59.7, "1m"),
        (750, "12m30s"),
        (900, "15m"),
        (3 * 3600 + 720, "3h12m"),
        (2 * 86400 + 4 * 3600, "2d04h"),
    ],
)
def test_a_duration_reads_in_its_two_largest_units(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (2.5e12, "2.5 TB"), (5e18, "5,000.0 PB")]
)
def test_a_size_reads_in_decimal_units_as_aws_bills(count: float, text: str) -> None:
    assert size(count) == text


def test_a_number_keeps_the_digits_that_tell_results_apart() -> None:
    assert [number(0.123456), number(1e-05), number(None)] == ["0.12346", "1e-05", ""]


def test_one_thing_is_not_many() -> None:
    assert [plural(1, "task"), plural(1200, "task")] == ["1 task", "1,200 tasks"]


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2026, 11, 20, 14, 35), "14:35"),
        (datetime(2026, 11, 21, 1, 5), "Sat 01:05"),
        (datetime(2026, 12, 3, 9, 0), "3 Dec 09:00"),
    ],
)
def test_a_time_to_come_reads_as_one_would_say_it(moment: datetime, text: str) -> None:
    assert future_time(moment, now=datetime(2026, 11, 20, 12, 0)) == text
