"""The fields of objects that this API knows. A server drops all others without a word, unless it is asked to be strict.

Of what it knows it does everything, but for what says otherwise here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.eks.kubernetes.resources import JOBS, PODS, SERVICES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from orchestrator.localcloud.services.eks.kubernetes.resources import Resource

Known = dict[str, Any]
"""A tree of names: a name leads to the fields below it, or to None where anything may stand below."""


def _any(names: str) -> Known:
    return dict.fromkeys(names.split())


_METADATA = _any(
    "name generateName namespace labels annotations ownerReferences finalizers uid resourceVersion creationTimestamp "
    "deletionTimestamp deletionGracePeriodSeconds generation managedFields"
)
_NODE_TERM = {"matchExpressions": _any("key operator values")}
_AFFINITY = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": _NODE_TERM},
    },
}
_CONTAINER = {
    **_any("name image imagePullPolicy command args workingDir terminationMessagePath terminationMessagePolicy"),
    "env": {**_any("name value"), "valueFrom": {"fieldRef": _any("fieldPath apiVersion")}},
    "ports": _any("name containerPort protocol"),
    "resources": _any("requests limits"),
    "volumeMounts": _any("name mountPath readOnly subPath"),
    # Containers are processes here: nothing of this has an effect.
    "securityContext": None,
}
_VOLUME = {"name": None, "emptyDir": _any("medium sizeLimit"), "persistentVolumeClaim": _any("claimName readOnly")}
_POD_SPEC = {
    **_any(
        "restartPolicy subdomain hostname serviceAccountName serviceAccount nodeSelector terminationGracePeriodSeconds "
        "activeDeadlineSeconds nodeName automountServiceAccountToken enableServiceLinks schedulerName dnsPolicy "
        "securityContext priorityClassName priority"
    ),
    "containers": _CONTAINER,
    "volumes": _VOLUME,
    "tolerations": _any("key operator value effect tolerationSeconds"),
    "affinity": _AFFINITY,
}
_RULE = {
    "action": None,
    "onExitCodes": _any("containerName operator values"),
    "onPodConditions": _any("type status"),
}
_JOB_SPEC = {
    **_any(
        "completions parallelism completionMode backoffLimit backoffLimitPerIndex maxFailedIndexes selector "
        "activeDeadlineSeconds ttlSecondsAfterFinished suspend podReplacementPolicy manualSelector managedBy"
    ),
    "podFailurePolicy": {"rules": _RULE},
    "successPolicy": {"rules": _any("succeededIndexes succeededCount")},
    "template": {"metadata": _METADATA, "spec": _POD_SPEC},
}
_SERVICE_SPEC = {
    **_any("clusterIP clusterIPs selector type publishNotReadyAddresses ipFamilies ipFamilyPolicy sessionAffinity"),
    "ports": _any("name port protocol targetPort"),
    "internalTrafficPolicy": None,
}
_OF = {JOBS: _JOB_SPEC, SERVICES: _SERVICE_SPEC, PODS: _POD_SPEC}


def split_fields(
    resource: Resource, body: dict[str, Any], forgotten: Iterable[str]
) -> tuple[dict[str, Any], list[str]]:
    """Return an object with the fields that are known, and the paths of those that are not.

    `forgotten` are paths that this server is not to know either, as an older one would not.
    """
    known: Known = {**_any("apiVersion kind status"), "metadata": _METADATA, "spec": _OF.get(resource)}
    unknown: list[str] = []
    kept = _keep(body, known, "", frozenset(forgotten), unknown)
    return kept, unknown


def _keep(value: Any, known: Known | None, path: str, forgotten: frozenset[str], unknown: list[str]) -> Any:
    if isinstance(value, list):
        return [_keep(each, known, path, forgotten, unknown) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {}
    for name, below in value.items():
        at = f"{path}.{name}".lstrip(".")
        if at in forgotten or (known is not None and name not in known):
            unknown.append(at)
            continue
        kept[name] = _keep(below, known[name] if known is not None else None, at, forgotten, unknown)
    return kept


def merge(value: Any, patch: Any) -> Any:
    """Return a value as a JSON merge patch changes it."""
    if not isinstance(patch, dict):
        return patch
    before = value if isinstance(value, dict) else {}
    changed = {name: merge(before.get(name), each) for name, each in patch.items() if each is not None}
    return {**{name: each for name, each in before.items() if name not in patch}, **changed}


def differences(one: Any, other: Any, path: str = "") -> Iterator[str]:
    """Yield the paths at which two values differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in sorted({*one, *other}):
            yield from differences(one.get(name), other.get(name), f"{path}.{name}".lstrip("."))
    elif one != other:
        yield path
