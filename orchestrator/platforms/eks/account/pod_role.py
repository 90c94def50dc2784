"""Do pods get the keys of a role: by EKS Pod Identity, or by IRSA?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.aws.answers import understood
from orchestrator.aws.errors import aws_errors
from orchestrator.errors import NotFound
from orchestrator.platforms.account.finding import PERMISSION, ok, warning, wrong
from orchestrator.platforms.eks.kube.api import ACCOUNTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.platforms.account.finding import Finding
    from orchestrator.platforms.eks.account.subject import Subject
    from orchestrator.platforms.eks.kube.api import KubeApi

_AGENT = "eks-pod-identity-agent"
_BY_IRSA = "eks.amazonaws.com/role-arn"
"""The annotation of a service account that names its role for IRSA."""


def pod_role(subject: Subject, api: KubeApi | None) -> Iterator[Finding]:
    """Yield which role the pods of the service account have. Without the cluster's API, IRSA is not seen."""
    wanted = subject.wanted.role
    where = f"{subject.inside}/{subject.account}"
    found = _association(subject)
    if found is None:
        role = _annotated(subject, api) if api else ""
        if role:
            yield _compared(where, role, wanted, "by IRSA", subject.kubectl(_annotate(subject)))
            return
        own = f"--namespace {subject.namespace} --service-account {subject.account} --role-arn {wanted}"
        mend = subject.let_in(subject.eks("create-pod-identity-association", own))
        yield wrong("pod role", where, "has no role: pods find no keys, and reach no data", mend, PERMISSION)
        return
    change = f"--association-id {found['associationId']} --role-arn {wanted}"
    mend = subject.eks("update-pod-identity-association", change)
    yield _compared(where, found["roleArn"], wanted, "by Pod Identity", mend)
    if not _has_agent(subject):
        add = subject.eks("create-addon", f"--addon-name {_AGENT}")
        yield wrong("pod role", subject.cluster, f"the add-on {_AGENT} is not there: pods find no keys", add)


def _association(subject: Subject) -> dict[str, Any] | None:
    """Return the association of the service account; None when there is none."""
    asking = f"look at the role of {subject.inside}/{subject.account}"
    asked = {"namespace": subject.namespace, "serviceAccount": subject.account}
    eks = subject.clients.client("eks", subject.region)
    with aws_errors(asking, where=subject.region), understood(asking, where=subject.region):
        told = eks.list_pod_identity_associations(clusterName=subject.cluster, **asked)["associations"]
        if not told:
            return None
        number = told[0]["associationId"]
        found = eks.describe_pod_identity_association(clusterName=subject.cluster, associationId=number)
        return dict(found["association"])


def _annotated(subject: Subject, api: KubeApi) -> str:
    try:
        body = api.get(ACCOUNTS, subject.namespace, subject.account).body
    except NotFound:
        return ""
    return str((body["metadata"].get("annotations") or {}).get(_BY_IRSA, ""))


def _annotate(subject: Subject) -> str:
    role = f"{_BY_IRSA}={subject.wanted.role}"
    return f"annotate serviceaccount {subject.account} --namespace {subject.namespace} --overwrite {role}"


def _compared(where: str, role: str, wanted: str, how: str, mend: str) -> Finding:
    if role == wanted:
        return ok("pod role", where, f"its pods have the role {role.rpartition('/')[2]}, {how}")
    names = [each.rpartition("/")[2] for each in (role, wanted)]
    return warning("pod role", where, f"its pods have the role {names[0]}, {how}; trainings elsewhere {names[1]}", mend)


def _has_agent(subject: Subject) -> bool:
    if (subject.described.get("computeConfig") or {}).get("enabled"):
        return True  # a cluster in Auto Mode has it built in
    eks = subject.clients.client("eks", subject.region)
    try:
        with aws_errors(f"look for {_AGENT}", where=subject.region):
            eks.describe_addon(clusterName=subject.cluster, addonName=_AGENT)
    except NotFound:
        return False
    return True
