"""What comes of all policies together, as AWS says it: a deny wins, then each kind of policy must allow.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic_policy-eval-denyallow.html
Policies of organisations and of resources, such as a bucket's, are not known here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orchestrator.localcloud.iam.conditions import UnknownOperator, hold
from orchestrator.localcloud.iam.patterns import fill_in, means_action, means_arn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from orchestrator.localcloud.iam.policy import Policy, Statement


@dataclass(frozen=True)
class Asked:
    """One permission that somebody asks for."""

    action: str
    resource: str
    context: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Policies:
    """The policies that bear on one identity."""

    identity: tuple[Policy, ...]
    boundary: Policy | None = None
    session: Policy | None = None

    def kinds(self) -> Iterator[tuple[str, tuple[Policy, ...]]]:
        """Yield each kind of policy that there is: all of them must allow."""
        yield "identity-based policy", self.identity
        if self.boundary is not None:
            yield "permissions boundary", (self.boundary,)
        if self.session is not None:
            yield "session policy", (self.session,)


@dataclass(frozen=True)
class Decision:
    """A yes or a no, and why not, in AWS's words."""

    allowed: bool
    why: str = ""


def evaluate(policies: Policies, asked: Asked) -> Decision:
    """Return whether policies allow what is asked for."""
    found = [(kind, list(_that_mean(held, asked))) for kind, held in policies.kinds()]
    for _, meant in found:
        if wrong := next((why for _, why in meant if why), ""):
            return Decision(allowed=False, why=wrong)
    for kind, meant in found:
        if any(not statement.allows for statement, _ in meant):
            return Decision(allowed=False, why=f"with an explicit deny in {_one(kind)}")
    for kind, meant in found:
        if not meant:
            return Decision(allowed=False, why=f"because no {kind} allows the {asked.action} action")
    return Decision(allowed=True)


def _that_mean(policies: Iterable[Policy], asked: Asked) -> Iterator[tuple[Statement, str]]:
    """Yield the statements that mean what is asked for, each with why that cannot be told, if it cannot."""
    for policy in policies:
        for statement in policy.statements:
            if not _means(statement, asked):
                continue
            try:
                if hold(statement.conditions, asked.context):
                    yield statement, ""
            except UnknownOperator as error:
                yield statement, f"because the policy {policy.name} has the unknown condition operator {error}"


def _means(statement: Statement, asked: Asked) -> bool:
    if statement.actions is not None:
        is_meant = any(means_action(each, asked.action) for each in statement.actions)
    else:
        is_meant = not any(means_action(each, asked.action) for each in statement.not_actions or ())
    return is_meant and means_resource(statement, asked)


def means_resource(statement: Statement, asked: Asked) -> bool:
    """Return whether a statement means the resource; one that names none, as in a role's trust, means that itself."""
    if statement.resources is not None:
        return _any_arn(statement.resources, asked)
    return statement.not_resources is None or not _any_arn(statement.not_resources, asked)


def _any_arn(patterns: Iterable[str], asked: Asked) -> bool:
    filled = (fill_in(each, asked.context) for each in patterns)
    return any(means_arn(each, asked.resource) for each in filled if each is not None)


def _one(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def trusts(trust: Policy, principal: tuple[str, str], asked: Asked) -> bool:
    """Return whether a trust lets a principal, as in ("Service", "ecs-tasks.amazonaws.com"), take the role on."""
    kind, name = principal
    meant = [
        statement
        for statement, why in _that_mean([trust], asked)
        if not why and any(each in ((kind, name), ("AWS", "*")) for each in statement.principals)
    ]
    return bool(meant) and all(statement.allows for statement in meant)
