"""Who may do what in a cluster: its access entries, and the access policies that EKS has for them.

docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html says what each allows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.services.eks.kubernetes.resources import (
    ACCOUNTS,
    ALL,
    CLAIMS,
    EVENTS,
    JOBS,
    NAMESPACES,
    PODS,
    QUOTAS,
    SERVICES,
)
from orchestrator.localcloud.services.eks.kubernetes.status import may_not, unauthorized

if TYPE_CHECKING:
    from orchestrator.localcloud.services.eks.kubernetes.requests import Asked
    from orchestrator.localcloud.services.eks.kubernetes.resources import Resource

Body = dict[str, Any]

_PREFIX = "arn:aws:eks::aws:cluster-access-policy/"
_LOOK = frozenset({"get", "list", "watch"})
_CHANGE = frozenset({"create", "delete", "patch", "update"})
# Kueue's queues are no kind of Kubernetes' own: only a policy for all kinds has them.
_VIEWED = frozenset({JOBS, PODS, SERVICES, EVENTS, CLAIMS, QUOTAS, NAMESPACES, ACCOUNTS})
_EDITED = frozenset({JOBS, PODS, SERVICES, CLAIMS, ACCOUNTS})


@dataclass(frozen=True)
class Policy:
    """One of EKS's own access policies, as far as this API has what it is about."""

    everything: bool = False
    edited: frozenset[Resource] = frozenset()
    viewed: frozenset[Resource] = _VIEWED

    def allows(self, verb: str, resource: Resource | None) -> bool:
        """Say whether it allows a verb on a kind of objects."""
        if self.everything:
            return True
        return (verb in _LOOK and resource in self.viewed) or (verb in _CHANGE and resource in self.edited)


EDIT = f"{_PREFIX}AmazonEKSEditPolicy"
POLICIES = {
    f"{_PREFIX}AmazonEKSClusterAdminPolicy": Policy(everything=True),
    EDIT: Policy(edited=_EDITED),
    f"{_PREFIX}AmazonEKSViewPolicy": Policy(),
    f"{_PREFIX}AmazonEKSAdminViewPolicy": Policy(viewed=frozenset(ALL)),
}


@dataclass
class Entry:
    """An access entry: a principal, and its policies, each in all namespaces or in some."""

    principal: str
    policies: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The namespaces of each policy; none for all."""


class Access:
    """The access entries of one cluster."""

    def __init__(self, creator: str) -> None:
        """Begin with who has made the cluster, who may do everything."""
        self.entries = {creator: Entry(creator, {f"{_PREFIX}AmazonEKSClusterAdminPolicy": ()})}

    def check(self, principal: str, asked: Asked) -> None:
        """Raise KubeError unless somebody may ask for that."""
        self.entry(principal)
        target = asked.target
        # A namespace is looked at by who may look into it.
        within = target.name if target.resource is NAMESPACES else target.namespace
        if not self.allows(principal, asked.verb, target.resource, within):
            raise may_not(principal, asked.verb, target.resource, target.namespace)

    def entry(self, principal: str) -> Entry:
        """Return somebody's entry. Raise KubeError for who has none: the cluster does not know them."""
        if principal not in self.entries:
            raise unauthorized()
        return self.entries[principal]

    def allows(self, principal: str, verb: str, resource: Resource | None, namespace: str) -> bool:
        """Say whether somebody with an entry may do that in a namespace, or everywhere."""
        return any(
            (not namespaces or namespace in namespaces) and POLICIES[name].allows(verb, resource)
            for name, namespaces in self.entries[principal].policies.items()
        )

    def add(self, principal: str) -> Entry:
        """Add an entry. Raise AwsError when there is one."""
        if principal in self.entries:
            raise AwsError("ResourceInUseException", "The specified access entry resource is already in use.", 409)
        self.entries[principal] = Entry(principal)
        return self.entries[principal]

    def get(self, principal: str) -> Entry:
        """Return an entry. Raise AwsError when there is none."""
        if principal not in self.entries:
            raise AwsError(
                "ResourceNotFoundException", f"The specified principalArn could not be found: {principal}.", 404
            )
        return self.entries[principal]

    def allow(self, principal: str, policy: str, scope: Body) -> None:
        """Give a principal a policy. Raise AwsError when there is no such entry or policy."""
        entry = self.get(principal)
        if policy not in POLICIES:
            raise AwsError("InvalidParameterException", f"The policyArn {policy} is not known to the local cloud.", 400)
        entry.policies[policy] = tuple(scope.get("namespaces", ())) if scope["type"] == "namespace" else ()

    def deny(self, principal: str, policy: str) -> None:
        """Take a policy away from a principal. Raise AwsError when it has none such."""
        if self.get(principal).policies.pop(policy, None) is None:
            message = f"The policyArn {policy} is not associated with the access entry."
            raise AwsError("ResourceNotFoundException", message, 404)
