"""Takes stacks away. Buckets, repositories and logs stay: what is in them, nobody could bring back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.aws.account.queues import Queues
from orchestrator.errors import Refused
from orchestrator.infra.deploy import wait_until_gone
from orchestrator.infra.names import CONTROL_STACK
from orchestrator.infra.template import KEPT_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orchestrator.aws.account.cloudformation import Resource, Stack, Stacks
    from orchestrator.aws.session import Clients
    from orchestrator.infra.deploy import Wanted
    from orchestrator.infra.names import Names


@dataclass(frozen=True)
class Going:
    """A stack that is to go, what goes with it, and what stays."""

    stacks: Stacks
    stack: Stack
    gone: tuple[Resource, ...]
    kept: tuple[Resource, ...]


def plan_destruction(wanted: Sequence[Wanted], clients: Clients, names: Names) -> list[Going]:
    """Return what would go, the control Region's stack last; nothing for a stack that is not there.

    Raise Refused while jobs wait or run in queues that would go: deleting a queue ends them.
    """
    found = ((each, each.stacks.find(each.name)) for each in wanted)
    going = [_going(each, stack) for each, stack in found if stack]
    going.sort(key=lambda each: each.stack.name == CONTROL_STACK)
    for each in going:
        _refuse_living_jobs(each, clients, names)
    return going


def destroy(going: Sequence[Going]) -> Iterator[Going]:
    """Delete stacks one after the other, and yield each when it is gone."""
    for each in going:
        wait_until_gone(each.stacks, each.stack)
        yield each


def _going(wanted: Wanted, stack: Stack) -> Going:
    there = [each for each in wanted.stacks.resources(stack.id) if each.physical]
    kept = tuple(each for each in there if each.type in KEPT_TYPES)
    return Going(wanted.stacks, stack, tuple(each for each in there if each.type not in KEPT_TYPES), kept)


def _refuse_living_jobs(going: Going, clients: Clients, names: Names) -> None:
    queues = Queues(clients, names.region)
    for resource in going.gone:
        if resource.type == "AWS::Batch::JobQueue" and (job := queues.living_job(resource.physical)):
            queue = resource.physical.rpartition("/")[2]
            raise Refused(
                f"the job {job} has not ended in the queue {queue}, and would end with it",
                where=going.stack.region,
                hint="`sweep cancel` ends a run, or wait for it",
            )
