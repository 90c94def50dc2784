"""Takes stacks away. Buckets, repositories and logs stay: what is in them, nobody could bring back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.aws.account.queues import Queues
from orchestrator.errors import Refused
from orchestrator.infra.names import CONTROL_STACK
from orchestrator.infra.stacks.deploy import wait_until_gone
from orchestrator.infra.stacks.template import KEPT_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from orchestrator.aws.account.cloudformation import Resource, Stack, Stacks
    from orchestrator.aws.session import Clients
    from orchestrator.infra.names import Names
    from orchestrator.infra.stacks.deploy import Wanted


QUEUE = "AWS::Batch::JobQueue"


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
        lost = [resource.physical for resource in each.gone if resource.type == QUEUE]
        refuse_living_jobs(lost, each.stack.region, Queues(clients, names.region))
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


def refuse_living_jobs(gone: Iterable[str], region: str, queues: Queues) -> None:
    """Raise Refused if a job waits or runs in one of these queues, which are to go."""
    for arn in gone:
        if job := queues.living_job(arn):
            raise Refused(
                f"the job {job} has not ended in the queue {arn.rpartition('/')[2]}, and would end with it",
                where=region,
                hint="`sweep cancel` ends a run, or wait for it",
            )
