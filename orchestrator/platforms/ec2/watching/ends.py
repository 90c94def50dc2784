"""When an instance has ended that has left no word, and of which DescribeInstances does not say when.

EC2 tells the moment of an end that somebody has asked for. Of a spot instance its request tells it. Else it was at the
latest when the instance was first seen to be gone, and when its watchdogs would have ended it.
"""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.aws.answers import understood
from orchestrator.aws.errors import aws_errors
from orchestrator.errors import AccessError, CloudError, Throttled, Unreachable
from orchestrator.platforms.ec2.sent.user_data import paid_s

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.ec2.watching.machines import Machine
    from orchestrator.wire.result import Attempt

log = logging.getLogger(__name__)

_ASKING = "look for spot requests"
_MAY_GO_ON = ("open", "active")
"""States of spot requests whose instance has not ended."""


class Ends:
    """Remembers when instances were first seen to be gone. Whoever looks for the first time knows less."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._gone: dict[str, float] = {}

    def note(self, machines: Iterable[Machine]) -> None:
        """Note which of these are gone: call it with whatever was seen, also while S3 cannot be asked."""
        for machine in machines:
            if not machine.alive:
                self._gone.setdefault(machine.id, time.time())

    def tell(self, attempt: Attempt, machines: Iterable[Machine], said: Collection[int]) -> list[Machine]:
        """Return an attempt's machines with their ends. Those that have `said` theirs, by index, stay as they are."""
        return [
            machine
            if machine.alive or machine.ended_at is not None or machine.index in said
            else replace(machine, ended_at=self._end(attempt, machine))
            for machine in machines
        ]

    def _end(self, attempt: Attempt, machine: Machine) -> float:
        told = self._by_request(attempt.lane.region, machine.spot_request) if machine.spot_request else None
        latest = machine.launched_at + paid_s(attempt.max_runtime_s, attempt.allowance_s)
        seen = self._gone.setdefault(machine.id, time.time())
        return min(seen, latest, seen if told is None else told)

    def _by_request(self, region: str, request: str) -> float | None:
        """Return when a spot request was over; None while it is not, or where EC2 does not tell."""
        try:
            with aws_errors(_ASKING, where=region), understood(_ASKING, where=region):
                client = self._clients.client("ec2", region)
                answer = client.describe_spot_instance_requests(SpotInstanceRequestIds=[request])
                (found,) = answer["SpotInstanceRequests"]
                return None if found["State"] in _MAY_GO_ON else float(found["Status"]["UpdateTime"].timestamp())
        except (Throttled, Unreachable):
            raise  # it will tell: how an attempt has ended is written down once
        except (AccessError, CloudError) as error:
            log.info("%s", error.message)
            return None
