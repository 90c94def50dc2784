"""ResourceQuotas: what a namespace may have at most. kubernetes.io/docs/concepts/policy/resource-quotas"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.eks.kubernetes.pods.pods import has_ended, requests_of
from orchestrator.localcloud.services.eks.kubernetes.quantities import quantity, shown
from orchestrator.localcloud.services.eks.kubernetes.resources import JOBS, PODS, QUOTAS
from orchestrator.localcloud.services.eks.kubernetes.status import forbidden

if TYPE_CHECKING:
    from orchestrator.localcloud.services.eks.kubernetes.resources import Resource
    from orchestrator.localcloud.services.eks.kubernetes.store import Store

Body = dict[str, Any]


def check_quotas(store: Store, resource: Resource, body: Body) -> None:
    """Raise KubeError when a namespace may not have this object besides what it has."""
    namespace = body["metadata"].get("namespace", "")
    asked = _usage(resource, body)
    for quota in store.all(QUOTAS, namespace):
        hard = {name: quantity(value) for name, value in quota["spec"].get("hard", {}).items()}
        used = _used(store, resource, namespace)
        over = [name for name in asked if name in hard and used.get(name, Fraction(0)) + asked[name] > hard[name]]
        if over:
            parts = (
                ("requested", asked),
                ("used", {name: used.get(name, Fraction(0)) for name in over}),
                ("limited", hard),
            )
            words = (f"{word}: {','.join(f'{name}={shown(of[name])}' for name in over)}" for word, of in parts)
            raise forbidden(
                resource, body["metadata"]["name"], f"exceeded quota: {quota['metadata']['name']}, {', '.join(words)}"
            )


def count_quotas(store: Store, resource: Resource, namespace: str) -> None:
    """Write down what a namespace uses of its quotas, after something of a kind has changed there."""
    if resource not in (JOBS, PODS, QUOTAS):
        return
    for quota in store.all(QUOTAS, namespace):
        used = {name: value for kind in (JOBS, PODS) for name, value in _used(store, kind, namespace).items()}
        hard = quota["spec"].get("hard", {})
        told = {name: shown(used.get(name, Fraction(0))) for name in hard}
        quota["status"] = {"hard": dict(hard), "used": told}
        store.touch(quota)


def _used(store: Store, resource: Resource, namespace: str) -> dict[str, Fraction]:
    used: dict[str, Fraction] = {}
    for each in store.all(resource, namespace):
        for name, value in _usage(resource, each).items():
            used[name] = used.get(name, Fraction(0)) + value
    return used


def _usage(resource: Resource, body: Body) -> dict[str, Fraction]:
    used = {f"count/{resource.qualified}": Fraction(1)}
    if resource is PODS:
        if has_ended(body):
            return used
        used["pods"] = Fraction(1)
        for name, value in requests_of(body["spec"]).items():
            used |= {f"requests.{name}": value}
    return used
