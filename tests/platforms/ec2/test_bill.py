"""What an attempt has cost: billed seconds at the rate, or at what its zone's spot price really was."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from orchestrator.platforms.ec2.bill import Life, add_up, find_lives, spot_prices
from orchestrator.platforms.ec2.left import Launched, Words
from orchestrator.training.bare.outcome import MachineOutcome
from tests.platforms.ec2.test_outcome import BY_ITSELF, NOW, RUNNING, attempt, machine, words

HOUR = 3600.0


class Prices:
    """EC2 with these changes of spot prices: zone, second, dollars."""

    def __init__(self, *changes: tuple[str, float, float]) -> None:
        self.changes = changes

    def client(self, *_: str) -> Prices:
        return self

    def get_paginator(self, _: str) -> Prices:
        return self

    def paginate(self, **_: Any) -> list[dict[str, Any]]:
        rows = [
            {"AvailabilityZone": zone, "Timestamp": datetime.fromtimestamp(at, timezone.utc), "SpotPrice": f"{usd}"}
            for zone, at, usd in self.changes
        ]
        return [{"SpotPriceHistory": rows}]


def test_a_minute_is_billed_at_the_least() -> None:
    assert add_up(attempt(), [Life(0, 5)], {}) == pytest.approx(1.5 / 60)
    assert add_up(attempt(2), [Life(0, HOUR), Life(0, 2 * HOUR)], {}) == pytest.approx(4.5)


def test_the_zone_s_price_is_paid_and_never_more_than_the_bid() -> None:
    life = Life(0, HOUR, "a")
    assert add_up(attempt(), [life], {"a": 0.4}) == pytest.approx(0.4)
    assert add_up(attempt(), [life], {"a": 9.0}) == pytest.approx(1.5)
    assert add_up(attempt(), [life], {"b": 0.4}) == pytest.approx(1.5)


def test_a_price_counts_for_as_long_as_it_held() -> None:
    lives = [Life(1000, 1000 + HOUR, "a")]
    clients: Any = Prices(("a", 500, 0.4), ("a", 1000 + HOUR / 4, 0.8), ("b", 0, 0.1))
    prices = spot_prices(clients, attempt(), lives)
    assert prices == {"a": pytest.approx(0.7), "b": pytest.approx(0.1)}


def test_lives_are_told_by_ec2_or_else_by_the_machines_themselves() -> None:
    launched = Launched(("i-0",), NOW - 100, "eu-west-1")
    (running,) = find_lives([machine(0, RUNNING)], words(), launched, NOW)
    assert (running.began_at, running.ended_at) == (NOW - 100, NOW)
    (over,) = find_lives([machine(0, BY_ITSELF, 80.0)], words(), launched, NOW)
    assert (over.ended_at, over.zone) == (NOW - 20, "eu-west-1a")
    told = MachineOutcome(0, "done", started_at=NOW - 90, ended_at=NOW - 10, facts={"zone": "eu-west-1b"})
    (forgotten,) = find_lives([], Words(frozenset({0}), {0: told}), launched, NOW)
    assert forgotten == Life(NOW - 100, NOW - 10, "eu-west-1b")
