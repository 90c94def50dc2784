"""States of a stack that stand in the way: what each means, and what is to be done about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.errors import CloudError, Refused

if TYPE_CHECKING:
    from orchestrator.aws.account.cloudformation import Stack

NEVER_MADE = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED")
"""The states of a stack whose first deployment failed. It can only be deleted."""
_LOOK = "aws cloudformation describe-stack-events --stack-name {stack} --region {region}"
_STUCK = {
    "UPDATE_ROLLBACK_FAILED": "aws cloudformation continue-update-rollback --stack-name {stack} --region {region}",
    "UPDATE_FAILED": "aws cloudformation rollback-stack --stack-name {stack} --region {region}",
    "DELETE_FAILED": _LOOK,
}
"""The states that a person has to look into, and the command to begin with."""


def what_to_do(stack: Stack, *, is_current: bool = False) -> str:
    """Return in words what a stack's state means and what mends it; nothing for one that is well.

    One whose last change failed is well if it is current: if what it was before is what is wanted now.
    """
    if stack.is_busy:
        return f"somebody is changing it{_since(stack)}: `sweep infra deploy` waits for that, and then goes on"
    if stack.is_new:
        return "nothing was made yet but a proposal: `sweep infra deploy` goes on with it"
    if stack.status in NEVER_MADE:
        return "its first deployment failed: `sweep infra deploy` takes what is left away, and makes it anew"
    if stack.status == "UPDATE_ROLLBACK_COMPLETE" and not is_current:
        return "its last change failed, and it is as it was before: `sweep infra deploy` tries again"
    if stack.status in _STUCK:
        return f"a person has to look into it: `{_command(stack)}`"
    return ""


def refuse_stuck(stack: Stack) -> None:
    """Raise CloudError for a stack that a person has to look into."""
    if stack.status in _STUCK:
        reason = f": {stack.reason}" if stack.reason else ""
        raise CloudError(
            f"the stack {stack.name} is in state {stack.status}{reason}",
            where=stack.region,
            hint=f"`{_command(stack)}` is what to begin with",
        )


def refuse_busy(stack: Stack) -> None:
    """Raise Refused for a stack that somebody is changing, and that cannot be deleted meanwhile."""
    if stack.is_busy and not stack.status.startswith("DELETE"):
        raise Refused(
            f"the stack {stack.name} is being changed by somebody else: {stack.status}{_since(stack)}",
            where=stack.region,
            hint="nothing was deleted of it; call it again when that has ended, as `sweep infra status` tells",
        )


def lost_to(stack: Stack | None, name: str, region: str) -> Refused:
    """Return the error of who would have changed a stack that somebody else has changed first."""
    if stack is None:
        message = f"the stack {name} was deleted by somebody else meanwhile"
    else:
        message = f"the stack {name} was changed by somebody else meanwhile: {stack.status}{_since(stack)}"
    hint = "what was agreed to no longer holds; deploy again to see what is left to do"
    return Refused(message, where=region, hint=hint)


def _command(stack: Stack) -> str:
    return _STUCK[stack.status].format(stack=stack.name, region=stack.region)


def _since(stack: Stack) -> str:
    return f" since {stack.changed_at:%Y-%m-%d %H:%M} UTC" if stack.changed_at else ""
