"""Do launchers have an access entry of the cluster, and what may we do there ourselves?"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from orchestrator.aws.answers import understood
from orchestrator.aws.errors import aws_errors
from orchestrator.errors import NotFound
from orchestrator.platforms.account.finding import PERMISSION, ok, warning, wrong
from orchestrator.platforms.eks.account.resources import EDIT, policy_arn
from orchestrator.platforms.eks.kube.api import ACCOUNTS, CLAIMS, EVENTS, JOBS, NODES, PODS, SERVICES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.platforms.account.finding import Finding
    from orchestrator.platforms.eks.account.subject import Subject
    from orchestrator.platforms.eks.kube.api import KubeApi

_EDITING = frozenset({EDIT, "AmazonEKSAdminPolicy", "AmazonEKSClusterAdminPolicy"})
"""The access policies of EKS's own that allow what launchers do."""
_VIEW_ALL = "AmazonEKSAdminViewPolicy"
_TRAINING = (
    *((verb, JOBS) for verb in ("create", "get", "list", "delete")),
    ("create", SERVICES),
    ("list", PODS),
    ("get", f"{PODS}:log"),
    ("list", EVENTS),
    ("get", ACCOUNTS),
    ("get", CLAIMS),
)
"""What submitting, looking and cancelling ask of the namespace."""
_EVERYWHERE = (("list", NODES), ("list", JOBS), ("list", PODS))
"""What refreshing the catalog and reaping ask of the whole cluster."""


def launchers(subject: Subject) -> Iterator[Finding]:
    """Yield for each role that starts trainings whether the cluster lets it in, and what it may do there."""
    for principal in subject.wanted.launchers:
        yield _launcher(subject, principal)


def ours(subject: Subject, api: KubeApi) -> Iterator[Finding]:
    """Yield whether we may do what submitting and other commands take, as the cluster itself says."""
    denied = [f"{verb} {_plain(kind)}" for verb, kind in _TRAINING if not api.may(verb, kind, subject.namespace)]
    if denied:
        scope = f"--access-scope type=namespace,namespaces={subject.namespace}"
        message = f"we may not {', '.join(denied)}"
        yield wrong("access", subject.inside, message, _associate(subject, _us(subject), EDIT, scope), PERMISSION)
    else:
        yield ok("access", subject.inside, "we may make Jobs and Services there, and look at pods")
    hidden = [f"{verb} {_plain(kind)}" for verb, kind in _EVERYWHERE if not api.may(verb, kind)]
    if hidden:
        message = f"we may not {', '.join(hidden)} of all namespaces: `sweep catalog refresh` and `sweep reap` do"
        mend = _associate(subject, _us(subject), _VIEW_ALL, "--access-scope type=cluster")
        yield warning("access", subject.cluster, message, mend)


def not_let_in(subject: Subject) -> Finding:
    """Return that the cluster does not know us."""
    mend = subject.eks("create-access-entry", f"--principal-arn {_us(subject)}")
    return wrong("access", subject.cluster, "it does not know us: we have no access entry", mend, PERMISSION)


def _launcher(subject: Subject, principal: str) -> Finding:
    name = principal.rpartition("/")[2]
    asked = {"clusterName": subject.cluster, "principalArn": principal}
    asking = f"look at the access entry of {name}"
    eks = subject.clients.client("eks", subject.region)
    try:
        with aws_errors(asking, where=subject.region):
            entry = eks.describe_access_entry(**asked)["accessEntry"]
    except NotFound:
        mend = subject.let_in(subject.eks("create-access-entry", f"--principal-arn {principal}"))
        return wrong("access", name, f"the cluster {subject.cluster} does not let it in", mend, PERMISSION)
    with aws_errors(asking, where=subject.region), understood(asking, where=subject.region):
        pages = eks.get_paginator("list_associated_access_policies").paginate(**asked)
        policies = [policy for page in pages for policy in page["associatedAccessPolicies"]]
    if any(_allows(policy, subject.namespace) for policy in policies):
        return ok("access", name, f"may make Jobs and Services in {subject.inside}")
    if groups := entry.get("kubernetesGroups"):
        look = subject.kubectl(f"auth can-i create jobs --namespace {subject.namespace} --as {name}")
        groups = " ".join(f"--as-group {group}" for group in groups)
        message = f"is let into {subject.cluster} by groups of Kubernetes: what they may do is not told"
        return warning("access", name, message, f"{look} {groups}")
    scope = f"--access-scope type=namespace,namespaces={subject.namespace}"
    mend = subject.let_in(_associate(subject, principal, EDIT, scope))
    return wrong("access", name, f"may not make Jobs in {subject.inside}", mend, PERMISSION)


def _allows(policy: dict[str, Any], namespace: str) -> bool:
    """Say whether an access policy allows all that launchers do in a namespace."""
    scope = policy["accessScope"]
    within = scope["type"] == "cluster" or any(fnmatchcase(namespace, name) for name in scope.get("namespaces", ()))
    return within and policy["policyArn"].rpartition("/")[2] in _EDITING


def _associate(subject: Subject, principal: str, policy: str, scope: str) -> str:
    arn = policy_arn(principal if ":iam:" in principal else subject.wanted.launchers[0], policy)
    return subject.eks("associate-access-policy", f"--principal-arn {principal} --policy-arn {arn} {scope}")


def _us(subject: Subject) -> str:
    return subject.wanted.principal or "YOUR_ARN"


def _plain(kind: str) -> str:
    return kind.rpartition("/")[2].replace(":", "/")
