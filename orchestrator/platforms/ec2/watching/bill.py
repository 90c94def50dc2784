"""What an attempt has cost: the seconds of each instance, at the rate, or at what its zone's spot price really was.

EC2 bills by the second, and a minute at the least. An instance of which nobody knows any more when it ended (ends.py)
has cost the most that it can: its watchdog has ended it then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.platforms.ec2.sent.user_data import paid_s
from orchestrator.platforms.spot_price_paid import average_spot_prices
from orchestrator.wire.task import Purchase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.ec2.watching.left import Launched, Words
    from orchestrator.platforms.ec2.watching.machines import Machine
    from orchestrator.wire.result import Attempt

LEAST_S = 60.0
UNSEEN_S = 300.0
"""Seconds for which DescribeInstances may not show what has just been launched."""


@dataclass(frozen=True)
class Life:
    """The billed life of one instance."""

    began_at: float
    ended_at: float
    zone: str = ""

    @property
    def billed_s(self) -> float:
        return max(self.ended_at - self.began_at, LEAST_S)


def find_lives(
    attempt: Attempt, machines: Sequence[Machine], words: Words, launched: Launched | None, now: float
) -> list[Life]:
    """Return the lives of the instances so far, as EC2 and the machines themselves tell them."""
    seen = {machine.index: machine for machine in machines}
    lives = []
    for index in range(attempt.instances):
        machine, outcome = seen.get(index), words.outcomes.get(index)
        if machine is None:
            if outcome is not None:
                began = launched.at if launched else outcome.started_at
                ended = words.told_at.get(index, outcome.ended_at)
                lives.append(Life(began, ended, outcome.facts.get("zone", "")))
            elif launched is not None and now > launched.at + UNSEEN_S:
                latest = launched.at + paid_s(attempt.max_runtime_s, attempt.allowance_s)
                lives.append(Life(launched.at, min(now, latest)))
            continue
        lives.append(Life(machine.launched_at, _end(attempt, machine, words, now), machine.zone))
    return lives


def _end(attempt: Attempt, machine: Machine, words: Words, now: float) -> float:
    """Return when an instance ended, by the best witness: EC2, its own last word, or its watchdogs; now if it has not.

    EC2 bills until an instance begins to shut down, from when it runs. Its life is counted from when it was launched,
    some seconds before: that makes up for those of a shutdown of which EC2 does not tell when it began.
    """
    if machine.ended_at is not None and not machine.alive:
        return machine.ended_at
    outcome = words.outcomes.get(machine.index)
    if outcome is not None:  # by its own clock it worked so long, and that may differ from EC2's
        ended = words.told_at.get(machine.index, outcome.ended_at)
        return max(ended, machine.launched_at + outcome.ended_at - outcome.started_at)
    return now if machine.alive else min(now, machine.launched_at + paid_s(attempt.max_runtime_s, attempt.allowance_s))


def add_up(attempt: Attempt, lives: Sequence[Life], prices: dict[str, float]) -> float:
    """Return the dollars of these lives: at the price of the zone where it is known, and never above the rate."""
    return sum(life.billed_s / 3600 * min(prices.get(life.zone, attempt.rate), attempt.rate) for life in lives)


def spot_prices(clients: Clients, attempt: Attempt, lives: Sequence[Life]) -> dict[str, float]:
    """Return what an hour of spot cost on the average in each zone, while the instances lived there.

    It is empty for other purchases. A zone without any price is left out.
    """
    if attempt.lane.purchase is not Purchase.SPOT or not lives:
        return {}
    begins, ends = min(life.began_at for life in lives), max(life.ended_at for life in lives)
    return average_spot_prices(clients, attempt.lane, begins, ends)
