"""Brings the stacks of an account to what the settings ask for: first it is told what changes, then it is done.

Killed at any line, call it again: CloudFormation goes on by itself, and a stack that is being changed is waited for.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.errors import AccessDenied, CloudError, InvalidRequest, NotFound
from orchestrator.infra.stacks.blocking_states import NEVER_MADE, lost_to, refuse_busy, refuse_stuck
from orchestrator.infra.stacks.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orchestrator.aws.account.cloudformation import Change, Proposal, Stack, Stacks

log = logging.getLogger(__name__)

_NOT_GRANTED = re.compile(
    r"not authorized to perform: (?P<action>[\w-]+:\w+)(?: on resource: \"?(?P<resource>[^\s\"]+)\"?)?"
)


@dataclass(frozen=True)
class Wanted:
    """A stack as it should be."""

    name: str
    stacks: Stacks
    template: str
    reverts_drift: bool = False
    """True if what somebody has changed by hand is to be put back."""

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
    if wanted.reverts_drift:  # what was proposed before is of what was there then
        name = f"sweep-{uuid.uuid4().hex[:12]}"
    while True:
        stack = _ready(wanted)
        is_new = stack is None or stack.is_new
        try:
            reverts_drift = wanted.reverts_drift and not is_new
            id_ = wanted.stacks.propose(wanted.name, name, wanted.template, is_new=is_new, reverts_drift=reverts_drift)
            return wanted, is_new, id_
        except (InvalidRequest, NotFound) as error:
            now = wanted.stacks.find(wanted.name)
            is_same = (now and now.status) == (stack and stack.status)
            if is_same and "_IN_PROGRESS" not in error.message:  # else somebody was at it, and has ended since
                raise


def _worked_out(asked: Sequence[tuple[Wanted, bool, str]]) -> Iterator[Planned]:
    """Yield the proposals once CloudFormation has worked them out. Those that change nothing are dropped."""
    for each, is_new, id_ in asked:
        try:
            proposal = _wait_for_proposal(each, id_)
        except NotFound:  # somebody has carried it out, or taken it back
            yield from plan_changes([each])
            continue
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


def _wait_for_proposal(wanted: Wanted, id_: str) -> Proposal:
    return wait_for(
        lambda: wanted.stacks.proposal(id_),
        lambda found: not found.is_pending,
        f"working out what changes of {wanted.name} in {wanted.region}",
    )


def carry_out(planned: Sequence[Planned]) -> Iterator[Stack]:
    """Change the stacks, Regions side by side, and yield each as it stands in the end.

    The control Region's comes first. Raise CloudError with the first resource that failed; what is under way goes on.
    Raise Refused for a stack that somebody else has changed meanwhile to something else.
    """
    for each in planned:
        _execute(each)
    for each in planned:
        wanted = each.wanted
        stack = settle(wanted.stacks, wanted.name)
        if not is_as_wanted(wanted, stack):
            raise lost_to(stack, wanted.name, wanted.region)
        yield stack


def drop(planned: Sequence[Planned]) -> None:
    """Take proposals back, with the stacks that were made for nothing else."""
    for each in planned:
        wanted = each.wanted
        try:
            wanted.stacks.drop(each.proposal)
        except (InvalidRequest, NotFound) as error:  # who deploys the same at once has the same proposal
            log.warning("%s in %s is being changed by somebody else: %s", wanted.name, wanted.region, error.message)
            continue
        stack = wanted.stacks.find(wanted.name)
        if each.is_new and stack and stack.is_new:
            wanted.stacks.delete(wanted.name)


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
    if stack and stack.status in NEVER_MADE:
        log.warning("%s in %s was never made whole: what is left of it is deleted first", stack.name, stack.region)
        wait_until_gone(wanted.stacks, stack)
        return None
    if stack:
        refuse_stuck(stack)
    return stack


def wait_until_gone(stacks: Stacks, stack: Stack) -> None:
    """Delete a stack, and wait until it is gone: also where somebody else is at it.

    Raise CloudError if a part of it stays that should go, Refused if somebody changes it.
    """
    now = stacks.find(stack.id)
    if now is None or now.status == "DELETE_COMPLETE":
        return
    refuse_busy(now)
    if not now.is_busy:
        _delete(stacks, stack)
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


def _delete(stacks: Stacks, stack: Stack) -> None:
    try:
        stacks.delete(stack.name)
    except InvalidRequest:
        now = stacks.find(stack.id)
        if now is None or not now.is_busy:
            raise
        refuse_busy(now)


def is_as_wanted(wanted: Wanted, stack: Stack) -> bool:
    """Return whether a stack was made from this very template."""
    there = wanted.stacks.template(stack.id)
    # boto3 gives a template in JSON as the value that it is.
    return bool((json.loads(there) if isinstance(there, str) else there) == json.loads(wanted.template))


def _execute(planned: Planned) -> None:
    """Begin to change a stack. What somebody else has begun meanwhile is waited for, if it leads to the same.

    Raise Refused where it does not, or where what was agreed to no longer holds.
    """
    wanted = planned.wanted
    try:
        wanted.stacks.execute(planned.proposal)
        return
    except CloudError as error:
        stack = wanted.stacks.find(wanted.name)
        if stack is not None and (stack.is_busy or (stack.is_well and is_as_wanted(wanted, stack))):
            log.warning("%s in %s is being changed by somebody else: %s", wanted.name, wanted.region, error.message)
            return
        if not isinstance(error, InvalidRequest | NotFound):
            raise
    # Somebody has taken the proposal back, or carried out another: perhaps the same is still to be done.
    again = plan_changes([wanted])
    if not again:
        return
    if again[0].changes != planned.changes:
        drop(again)
        raise lost_to(wanted.stacks.find(wanted.name), wanted.name, wanted.region)
    wanted.stacks.execute(again[0].proposal)
