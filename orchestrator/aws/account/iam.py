"""IAM: which roles are there, who may take them on, and what a policy simulator says that somebody may do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.aws.errors import aws_errors
from orchestrator.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orchestrator.aws.session import Clients


TAG_SESSIONS = frozenset({"pods.eks.amazonaws.com"})
"""Services that take a role on only where they may tag its sessions, too."""


@dataclass(frozen=True)
class Role:
    """A role that is there."""

    arn: str
    services: frozenset[str]
    """The services that may take it on."""
    boundary: str


def find_role(clients: Clients, region: str, name: str) -> Role | None:
    """Return a role, by its name without a path; None when there is none."""
    try:
        with aws_errors(f"look at the role {name}", where=region):
            found = clients.client("iam", region).get_role(RoleName=name)["Role"]
    except NotFound:
        return None
    statements = _listed(found["AssumeRolePolicyDocument"].get("Statement", ()))
    may_tag = _services(statements, "sts:TagSession")
    return Role(
        found["Arn"],
        frozenset(_services(statements, "sts:AssumeRole") - (TAG_SESSIONS - may_tag)),
        found.get("PermissionsBoundary", {}).get("PermissionsBoundaryArn", ""),
    )


def _services(statements: Sequence[Any], action: str) -> set[str]:
    """Return the services that a trust policy allows an action."""
    allowing = (
        each
        for each in statements
        if each.get("Effect") == "Allow" and {action, "sts:*", "*"} & set(_listed(each.get("Action", ())))
    )
    principals = (each.get("Principal", {}) for each in allowing)
    named = (each.get("Service", ()) for each in principals if isinstance(each, dict))
    return {service for each in named for service in _listed(each)}


def simulate(
    clients: Clients,
    region: str,
    principal: str,
    actions: Sequence[str],
    resources: Sequence[str],
    context: Mapping[str, str],
) -> list[str]:
    """Return the actions that IAM's simulator does not grant a principal on these resources.

    It knows identity policies and boundaries; the organisation's policies and those of resources may say otherwise.
    """
    entries = [
        {"ContextKeyName": key, "ContextKeyType": "string", "ContextKeyValues": [value]}
        for key, value in context.items()
    ]
    denied: list[str] = []
    asked: dict[str, Any] = {
        "PolicySourceArn": principal,
        "ActionNames": list(actions),
        "ResourceArns": list(resources),
        "ContextEntries": entries,
    }
    with aws_errors(f"simulate what {principal} may do", where=region):
        while True:
            page = clients.client("iam", region).simulate_principal_policy(**asked)
            for result in page["EvaluationResults"]:
                if result["EvalDecision"] != "allowed":
                    denied.append(f"{result['EvalActionName']} on {result['EvalResourceName']}")
            if not page.get("IsTruncated"):
                return denied
            asked["Marker"] = page["Marker"]


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]
