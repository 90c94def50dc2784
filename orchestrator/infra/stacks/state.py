"""Tells how the stacks of an account stand: made or not, of which version, and changed by whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.infra.stacks.blocking_states import what_to_do
from orchestrator.infra.stacks.deploy import is_as_wanted
from orchestrator.infra.stacks.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.aws.account.cloudformation import Drift, Stack
    from orchestrator.infra.stacks.deploy import Wanted


@dataclass(frozen=True)
class StackState:
    """A stack as it is, beside what it should be."""

    name: str
    region: str
    status: str
    """CloudFormation's own word; empty where there is no such stack."""
    version: str
    is_current: bool
    """True if deploying would change nothing of it."""
    drifts: tuple[Drift, ...]
    what_to_do: str = ""
    """What its state means and what mends it; empty for one that is well."""

    @property
    def is_well(self) -> bool:
        """True if it is there, as it should be, and nobody has changed it."""
        return self.is_current and not self.drifts and not self.what_to_do


def look(wanted: Sequence[Wanted]) -> list[StackState]:
    """Return how each stack stands. All Regions look for drift at the same time: it takes CloudFormation a while."""
    found = [(each, each.stacks.find(each.name)) for each in wanted]
    looks = [each.stacks.look_for_drift(stack.id) if stack and _is_made(stack) else "" for each, stack in found]
    return [_state(each, stack, look) for (each, stack), look in zip(found, looks, strict=True)]


def _is_made(stack: Stack) -> bool:
    return not stack.is_busy and not stack.is_new and not stack.status.startswith("ROLLBACK")


def _state(wanted: Wanted, stack: Stack | None, look: str) -> StackState:
    if stack is None or not _is_made(stack):
        told = what_to_do(stack) if stack else ""
        return StackState(wanted.name, wanted.region, stack.status if stack else "", "", False, (), told)
    wait_for(
        lambda: wanted.stacks.has_looked(look),
        lambda is_done: is_done,
        f"looking for drift of {wanted.name} in {wanted.region}",
    )
    is_current = is_as_wanted(wanted, stack)
    drifts = tuple(wanted.stacks.drifts(stack.id))
    version, told = stack.outputs.get("Version", ""), what_to_do(stack, is_current=is_current)
    return StackState(wanted.name, wanted.region, stack.status, version, is_current, drifts, told)
