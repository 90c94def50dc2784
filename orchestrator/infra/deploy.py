"""Brings the stacks of an account to what the settings ask for: first it is told what changes, then it is done.

Killed at any line, call it again: CloudFormation goes on by itself, and a stack that is being changed is waited for.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.errors import AccessDenied, CloudError, InvalidRequest, NotFound
from orchestrator.infra.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orchestrator.aws.account.cloudformation import Change, Proposal, Stack, Stacks

log = logging.getLogger(__name__)

_NOT_GRANTED = re.compile(
    r"not authorized to perform: (?P<action>[\w-]+:\w+)(?: on resource: \"?(?P<resource>[^\s\"]+)\"?)?"
)
_NEVER_MADE = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED")
"""The states of a stack whose first deployment failed. It can only be deleted."""
_STUCK = {
    "UPDATE_ROLLBACK_FAILED": "aws cloudformation continue-update-rollback --stack-name {stack} --region {region}",
    "DELETE_FAILED": "aws cloudformation describe-stack-events --stack-name {stack} --region {region}",
}
"""The states that a person has to look into, and the command to begin with."""


@dataclass(frozen=True)
class Wanted:
    """A stack as it should be."""

    name: str
    stacks: Stacks
    template: str

    @property
    def region(self) -> str:
        return self.stacks.region


@dataclass(frozen=True)
class Planned:
    """What a deployment would change of one stack."""

    wanted: Wanted
    proposal: Proposal
    is_new: bool

    @property
    def changes(self) -> Sequence[Change]:
        return self.proposal.changes


def plan_changes(wanted: Sequence[Wanted]) -> list[Planned]:
    """Return what has to change, stack by stack; nothing for a stack that is as it should be.

    A stack that is being changed by somebody is waited for. Raise CloudError for one that a person has to look into.
    """
    return list(_worked_out([_propose(each) for each in wanted]))


def _propose(wanted: Wanted) -> tuple[Wanted, bool, str]:
    """Return a stack, whether it is new, and the id of what is proposed for it.

    Two who deploy at once make the same proposal. The stack may have changed since it was looked at: then it is looked
    at once more.
    """
    name = f"sweep-{hashlib.sha256(wanted.template.encode()).hexdigest()[:12]}"
    while True:
        stack = _ready(wanted)
        is_new = stack is None or stack.is_new
        try:
            return wanted, is_new, wanted.stacks.propose(wanted.name, name, wanted.template, is_new=is_new)
        except (InvalidRequest, NotFound):
            now = wanted.stacks.find(wanted.name)
            if (now and now.status) == (stack and stack.status):
                raise


def _worked_out(asked: Sequence[tuple[Wanted, bool, str]]) -> Iterator[Planned]:
    """Yield the proposals once CloudFormation has worked them out. Those that change nothing are dropped."""
    for each, is_new, id_ in asked:
        proposal = wait_for(
            lambda each=each, id_=id_: each.stacks.proposal(id_),  # type: ignore[misc]
            lambda found: not found.is_pending,
            f"working out what changes of {each.name} in {each.region}",
        )
        if proposal.failure:
            each.stacks.drop(proposal)
            raise CloudError(
                f"CloudFormation will not change {each.name}: {proposal.failure}",
                where=each.region,
                hint="nothing was changed",
            )
        if proposal.is_empty:
            each.stacks.drop(proposal)
        else:
            yield Planned(each, proposal, is_new)


def carry_out(planned: Sequence[Planned]) -> Iterator[Stack]:
    """Change the stacks, Regions side by side, and yield each as it stands in the end.

    The control Region's comes first. Raise CloudError with the first resource that failed; what is under way goes on.
    """
    for each in planned:
        _execute(each)
    for each in planned:
        yield settle(each.wanted.stacks, each.wanted.name)


def drop(planned: Sequence[Planned]) -> None:
    """Take proposals back, with the stacks that were made for nothing else."""
    for each in planned:
        each.wanted.stacks.drop(each.proposal)
        if each.is_new:
            each.wanted.stacks.delete(each.wanted.name)


def settle(stacks: Stacks, name: str) -> Stack:
    """Wait until nothing changes a stack any more, and return it. Raise CloudError unless all went well."""

    def look() -> Stack:
        found = stacks.find(name)
        if found is None:
            raise NotFound(f"the stack {name} has gone", where=stacks.region, hint="somebody deleted it")
        return found

    stack = wait_for(look, lambda found: not found.is_busy, f"the stack {name} in {stacks.region}")
    if not stack.is_well:
        failures = stacks.failures(stack.id)
        first = failures[0] if failures else stack.reason or stack.status
        hint = "nothing of it stays; mend that, and deploy again"
        if stack.status.startswith("UPDATE"):
            hint = "the stack is as it was before; mend that, and deploy again"
        if missing := _missing_grant(first):
            hint = f"let whoever deploys do it: {missing}; then deploy again"
            raise AccessDenied(f"{name} could not be deployed: {first}", where=stacks.region, hint=hint)
        raise CloudError(f"{name} could not be deployed: {first}", where=stacks.region, hint=hint)
    return stack


def _missing_grant(reason: str) -> str:
    """Return the statement that is missing where AWS says that something is not granted; nothing for other reasons."""
    found = _NOT_GRANTED.search(reason)
    if found is None:
        return ""
    statement = {"Effect": "Allow", "Action": found["action"], "Resource": found["resource"] or "*"}
    return json.dumps(statement)


def _ready(wanted: Wanted) -> Stack | None:
    """Return the stack, as soon as it may be changed; None where there is none."""
    stack = wanted.stacks.find(wanted.name)
    if stack and stack.is_busy:
        log.warning("%s in %s is being changed (%s): waiting for that", stack.name, stack.region, stack.status)
        stack = wait_for(
            lambda: wanted.stacks.find(wanted.name),
            lambda found: found is None or not found.is_busy,
            f"the stack {wanted.name} in {wanted.region}",
        )
    if stack and stack.status in _NEVER_MADE:
        log.warning("%s in %s was never made whole: what is left of it is deleted first", stack.name, stack.region)
        wait_until_gone(wanted.stacks, stack)
        return None
    if stack and stack.status in _STUCK:
        command = _STUCK[stack.status].format(stack=stack.name, region=stack.region)
        raise CloudError(
            f"the stack {stack.name} is in state {stack.status}: {stack.reason}",
            where=stack.region,
            hint=f"`{command}` shows what holds it up",
        )
    return stack


def wait_until_gone(stacks: Stacks, stack: Stack) -> None:
    """Delete a stack, and wait until it is gone. Raise CloudError if a part of it stays that should go."""
    stacks.delete(stack.name)
    left = wait_for(
        lambda: stacks.find(stack.id),
        lambda found: found is None or not found.is_busy,
        f"deleting {stack.name} in {stack.region}",
    )
    if left is not None and left.status != "DELETE_COMPLETE":
        failures = stacks.failures(stack.id)
        raise CloudError(
            f"{stack.name} could not be deleted: {failures[0] if failures else left.reason}",
            where=stack.region,
            hint="mend that, and call it again",
        )


def is_as_wanted(wanted: Wanted, stack: Stack) -> bool:
    """Return whether a stack was made from this very template."""
    there = wanted.stacks.template(stack.id)
    # boto3 gives a template in JSON as the value that it is.
    return bool((json.loads(there) if isinstance(there, str) else there) == json.loads(wanted.template))


def _execute(planned: Planned) -> None:
    wanted = planned.wanted
    try:
        wanted.stacks.execute(planned.proposal)
    except CloudError as error:
        stack = wanted.stacks.find(wanted.name)
        if stack is None or not (stack.is_busy or (stack.is_well and is_as_wanted(wanted, stack))):
            raise
        # Somebody else carries out a proposal, or has done so. What becomes of it is waited for.
        log.warning("%s in %s is being changed by somebody else: %s", wanted.name, wanted.region, error.message)
