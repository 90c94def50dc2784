"""Launchers wait in the queue of their lane, where there is one for each."""

from __future__ import annotations

import pytest

from orchestrator.plan.slots import LotKey
from orchestrator.runs.written.home import Home
from orchestrator.wire.task import Lane


@pytest.mark.parametrize(
    ("pattern", "queue"),
    [
        ("sweep", "sweep"),
        ("sweep-{region}", "sweep-eu-west-1"),
        ("sweep-{platform}-{region}", "sweep-eks-eu-west-1"),
        ("{platform}-{region}-{instance_type}-{purchase}", "eks-eu-west-1-c5-xlarge-spot"),
    ],
)
def test_a_lane_has_the_queue_that_its_facts_make(pattern: str, queue: str) -> None:
    home = Home("123456789012", "us-east-1", "everybodys", pattern)
    assert home.queue_of(LotKey(Lane.parse("eks/eu-west-1/c5.xlarge/spot"))) == queue
    assert home.queue_of(None) == "everybodys"
