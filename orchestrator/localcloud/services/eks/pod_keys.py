"""Which variables give a pod the keys of its service account's role?

By IRSA, an annotation of the account names the role, and the pod gets a token of its cluster's: EKS's webhook puts its
path and the role into variables, docs.aws.amazon.com/eks/latest/userguide/pod-configuration.html. Otherwise it is the
role of the account's Pod Identity association. SDKs look for the token first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.localcloud.iam.service_roles import Duty
from orchestrator.localcloud.services.eks.kubernetes.resources import ACCOUNTS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from orchestrator.localcloud.iam.service_roles import ServiceRoles
    from orchestrator.localcloud.services.eks.associations import Associations
    from orchestrator.localcloud.services.eks.kubernetes.store import Store

_PRINCIPAL = "pods.eks.amazonaws.com"
_ROLE = "eks.amazonaws.com/role-arn"
_OTHER_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")


@dataclass(frozen=True)
class PodKeys:
    """The keys of the pods of one cluster."""

    region: str
    store: Store
    associations: Associations
    roles: ServiceRoles
    make_token: Callable[[str], str]
    """Returns a token that says who somebody is."""

    def variables(self, namespace: str, account: str, token_file: Path) -> dict[str, str]:
        """Return the variables of a pod. The file is written if it gets a token. Raise CannotTakeOn as `roles` does."""
        with self.store.lock:
            found = self.store.find(ACCOUNTS, namespace, account) or {"metadata": {}}
            role = (found["metadata"].get("annotations") or {}).get(_ROLE, "")
        if not role:
            associated = self.associations.role_of(namespace, account)
            return self.roles.variables(Duty(associated, _PRINCIPAL, f"eks-{account}", self.region))
        token_file.parent.mkdir(parents=True, exist_ok=True)
        token_file.write_text(self.make_token(f"system:serviceaccount:{namespace}:{account}"))
        told = {"AWS_ROLE_ARN": role, "AWS_WEB_IDENTITY_TOKEN_FILE": str(token_file)}
        return {**dict.fromkeys(_OTHER_KEYS, ""), **told, "AWS_STS_REGIONAL_ENDPOINTS": "regional"}
