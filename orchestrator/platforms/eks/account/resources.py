"""What infra makes for EKS in a Region: the way into the cluster for launchers, and the role of the pods.

The cluster itself, its namespaces and its service accounts are the team's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.platforms.eks.asked import read_settings
from orchestrator.platforms.eks.stage import ACCOUNT, NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.platforms.account.wanted import Wanted

EDIT = "AmazonEKSEditPolicy"
"""The access policy that launchers need in the namespace: they make Jobs and Services there, and look at pods."""


def make_resources(wanted: Wanted) -> Mapping[str, Mapping[str, object]]:
    """Return the access entries of launchers, and the association of the pods' role; nothing without a cluster."""
    settings = read_settings(wanted.settings)
    cluster = settings.cluster_in(wanted.region)
    if not cluster or settings.access == "given":
        return {}
    namespace = settings.namespace or NAMESPACE
    pods = {
        "ClusterName": cluster,
        "Namespace": namespace,
        "ServiceAccount": settings.service_account or ACCOUNT,
        "RoleArn": wanted.role,
    }
    entries = {
        name: {"Type": "AWS::EKS::AccessEntry", "Properties": _entry(cluster, launcher, namespace)}
        for name, launcher in zip(("EksLauncherAccess", "EksConductorAccess"), wanted.launchers, strict=False)
    }
    return {**entries, "EksPodRole": {"Type": "AWS::EKS::PodIdentityAssociation", "Properties": pods}}


def policy_arn(principal: str, policy: str = EDIT) -> str:
    """Return the ARN of an access policy of EKS's own, in the part of the world of a principal."""
    return f"{principal.partition(':iam:')[0]}:eks::aws:cluster-access-policy/{policy}"


def _entry(cluster: str, principal: str, namespace: str) -> dict[str, object]:
    scope = {"Type": "namespace", "Namespaces": [namespace]}
    return {
        "ClusterName": cluster,
        "PrincipalArn": principal,
        "Type": "STANDARD",
        "AccessPolicies": [{"PolicyArn": policy_arn(principal), "AccessScope": scope}],
    }
