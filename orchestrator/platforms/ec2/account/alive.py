"""Finds the instances in a Region that carry the tags of a run and have not ended. It stops nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.platforms.ec2.watching.machines import ALIVE, find_machines
from orchestrator.platforms.lives import Alive
from orchestrator.wire.task import Lane, Purchase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.ec2.watching.machines import Machine


def alive(clients: Clients, region: str) -> Iterator[Alive]:
    """Yield the trainings in a Region whose instances have not all ended, and carry a run's tags."""
    trainings: dict[str, list[Machine]] = {}
    for page in find_machines(clients, region, ("tag-key", "sweep:run"), ("instance-state-name", ",".join(ALIVE))):
        for machine in page:
            trainings.setdefault(machine.tags.get("Name", ""), []).append(machine)
    for name, machines in trainings.items():
        found = _read(name, region, machines)
        if found:
            yield found


def _read(name: str, region: str, machines: list[Machine]) -> Alive | None:
    """Return what a training is; None if its instances carry no tags of ours."""
    first = machines[0]
    run, task, attempt = (first.tags.get(f"sweep:{key}", "") for key in ("run", "task", "attempt"))
    if not run or not task.isdecimal() or not attempt.isdecimal():
        return None
    return Alive(
        training=name,
        lane=Lane("ec2", region, first.instance_type, _purchase(first)),
        instances=len(machines),
        run=run,
        task=int(task),
        attempt=int(attempt),
        output=first.tags.get("sweep:output", ""),
        started_at=min(machine.launched_at for machine in machines),
    )


def _purchase(machine: Machine) -> Purchase:
    if machine.is_spot:
        return Purchase.SPOT
    return Purchase.COMMITTED if machine.was_sent_there else Purchase.ON_DEMAND
