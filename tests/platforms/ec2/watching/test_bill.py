"""What an attempt has cost: billed seconds at the rate, or at what its zone's spot price really was."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

import pytest

from orchestrator.platforms.ec2.watching.bill import Life, add_up, find_lives, spot_prices
from orchestrator.platforms.ec2.watching.left import Launched, Words
from orchestrator.training.bare.telling.outcome import MachineOutcome
from tests.platforms.ec2.watching.test_outcome import BY_ITSELF, BY_USER, NOW, RUNNING, attempt, machine, words

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
            {
                "InstanceType": "g5.xlarge",
                "AvailabilityZone": zone,
                "Timestamp": datetime.fromtimestamp(at, timezone.utc),
                "SpotPrice": f"{usd}",
            }
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
    (running,) = find_lives(attempt(), [machine(0, RUNNING)], words(), launched, NOW)
    assert (running.began_at, running.ended_at) == (NOW - 100, NOW)
    (over,) = find_lives(attempt(), [machine(0, BY_ITSELF, 80.0)], words(), launched, NOW)
    assert (over.ended_at, over.zone) == (NOW - 20, "eu-west-1a")
    told = MachineOutcome(0, "done", started_at=NOW - 90, ended_at=NOW - 10, facts={"zone": "eu-west-1b"})
    (forgotten,) = find_lives(attempt(), [], Words(frozenset({0}), {0: told}), launched, NOW)
    assert forgotten == Life(NOW - 100, NOW - 10, "eu-west-1b")


def test_an_instance_has_lived_as_long_as_it_worked_whatever_its_clock_says() -> None:
    """It was launched at NOW by EC2's clock. By its own, it ended an hour before that."""
    launched = Launched(("i-0",), NOW, "eu-west-1")
    slow = MachineOutcome(0, "done", started_at=NOW - 3690, ended_at=NOW - 3600)
    (life,) = find_lives(
        attempt(), [replace(machine(0, RUNNING), launched_at=NOW)], Words(frozenset({0}), {0: slow}), launched, NOW
    )
    assert life.ended_at - life.began_at == 90


def test_what_ec2_says_of_an_end_counts_before_what_the_machine_has_said() -> None:
    """It was stopped 80 s after its launch. It had a grace after that, which EC2 does not bill."""
    launched = Launched(("i-0",), NOW - 100, "eu-west-1")
    late = MachineOutcome(0, "left", started_at=NOW - 99, ended_at=NOW - 5)
    (life,) = find_lives(attempt(), [machine(0, BY_USER, 80.0)], words({0: late}), launched, NOW)
    assert life.billed_s == 80


def test_a_machine_is_billed_while_s3_does_not_take_its_last_word() -> None:
    launched = Launched(("i-0",), NOW - 1000, "eu-west-1")
    told = {0: MachineOutcome(0, "done", started_at=NOW - 950, ended_at=NOW - 500)}
    there = replace(machine(0, RUNNING), launched_at=NOW - 1000)
    gone = replace(machine(0, BY_ITSELF), launched_at=NOW - 1000, ended_at=None)
    said = Words(frozenset({0}), told, told_at={0: NOW - 260})
    ends = [find_lives(attempt(), machines, said, launched, NOW)[0].ended_at for machines in ([there], [gone], [])]
    assert ends == [NOW - 260] * 3


def test_an_instance_of_whose_end_nobody_knows_has_cost_the_most_that_it_can() -> None:
    """EC2 forgets an instance an hour after its end: what was paid for it must not be spent once more."""
    launched = Launched(("i-0", "i-1"), NOW - 9000, "eu-west-1")
    told = MachineOutcome(0, "left", started_at=NOW - 8950, ended_at=NOW - 8000)
    first, second = find_lives(attempt(2), [], Words(frozenset({0, 1}), {0: told}), launched, NOW)
    assert first == Life(NOW - 9000, NOW - 8000)
    assert second == Life(NOW - 9000, NOW - 9000 + 3600 + 900)
    fresh = Launched(("i-0",), NOW - 10, "eu-west-1")
    assert find_lives(attempt(), [], words(), fresh, NOW) == []
