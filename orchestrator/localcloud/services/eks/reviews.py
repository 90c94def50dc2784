"""What a cluster says to somebody who asks what they may do: a SelfSubjectAccessReview, which everybody may make.

kubernetes.io/docs/reference/kubernetes-api/authorization-resources/self-subject-access-review-v1
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.eks.kubernetes.resources import ALL
from orchestrator.localcloud.services.eks.kubernetes.status import KubeError, bad_request

if TYPE_CHECKING:
    from orchestrator.localcloud.services.eks.access import Access
    from orchestrator.localcloud.services.eks.kubernetes.requests import Asked

Body = dict[str, Any]

PATH = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


def answer(access: Access, principal: str, asked: Asked) -> Body:
    """Return the review that somebody asks for. Raise KubeError for one that asks for nothing."""
    if asked.method != "POST":
        raise KubeError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
    spec = (asked.body or {}).get("spec") or {}
    about = spec.get("resourceAttributes")
    if not about:
        raise bad_request("spec.resourceAttributes: Required value")
    named = (about.get("group", ""), about.get("resource", ""))
    resource = next((each for each in ALL if (each.group, each.plural) == named), None)
    allowed = access.allows(principal, about.get("verb", ""), resource, about.get("namespace", ""))
    return {
        "kind": "SelfSubjectAccessReview",
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {},
        "spec": spec,
        "status": {"allowed": allowed},
    }
