"""What is wrong with an object that somebody wants to have: in the words of Kubernetes' own validation.

What it refuses is in kubernetes.io/docs/concepts/workloads/controllers/job, and in pkg/apis/batch/validation.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.eks.kubernetes.quantities import quantity
from orchestrator.localcloud.services.eks.kubernetes.resources import JOBS, SERVICES
from orchestrator.localcloud.services.eks.kubernetes.status import invalid

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.localcloud.services.eks.kubernetes.resources import Resource

Body = dict[str, Any]

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SERVICE = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(rf"{_LABEL.pattern}(\.{_LABEL.pattern})*")
_LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
_KEY = re.compile(rf"({_SUBDOMAIN.pattern}/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_LONGEST_LABEL = 63
_LONGEST_NAME = 253
_ANNOTATIONS = 256 * 1024
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_SOME, _NONE, _ONE = (1, 1000), (0, 0), (1, 1)
_VALUES_OF = {"In": _SOME, "NotIn": _SOME, "Exists": _NONE, "DoesNotExist": _NONE, "Gt": _ONE, "Lt": _ONE}
"""The least and the most values that an operator of a node selector takes."""
_IMMUTABLE = ("selector", "template", "completionMode", "podFailurePolicy", "successPolicy", "backoffLimitPerIndex")


def check(resource: Resource, body: Body) -> None:
    """Raise KubeError, which names all that is wrong with an object."""
    problems = [*_metadata(body["metadata"], _SERVICE if resource is SERVICES else _SUBDOMAIN, "metadata")]
    if resource is JOBS:
        problems += _job(body)
    if resource is SERVICES and not body["spec"].get("ports") and body["spec"].get("clusterIP") != "None":
        problems.append("spec.ports: Required value")
    if problems:
        raise invalid(resource, body["metadata"].get("name", ""), problems)


def check_change(before: Body, after: Body) -> None:
    """Raise KubeError for a change that a Job does not take: nearly all of it stays as it was made."""
    old, new = before["spec"], after["spec"]
    problems = [
        f"spec.{name}: Invalid value: field is immutable"
        for name in _IMMUTABLE
        if old.get(name) != new.get(name) and not (name == "template" and old.get("suspend"))
    ]
    if old["completions"] != new["completions"]:
        elastic = new["completionMode"] == "Indexed" and new["completions"] == new["parallelism"]
        if not elastic:
            words = (
                "field is immutable"
                if new["completionMode"] != "Indexed"
                else ("can only be modified in tandem with spec.parallelism")
            )
            problems.append(f"spec.completions: Invalid value: {new['completions']}: {words}")
    if problems:
        raise invalid(JOBS, before["metadata"]["name"], problems)


def _metadata(meta: Body, form: re.Pattern[str], path: str) -> Iterator[str]:
    name = str(meta.get("name", ""))
    longest = _LONGEST_LABEL if form is _SERVICE else _LONGEST_NAME
    if not name:
        yield f"{path}.name: Required value: name or generateName is required"
    elif len(name) > longest or not form.fullmatch(name):
        kind = "a DNS-1035 label" if form is _SERVICE else "a lowercase RFC 1123 subdomain"
        yield f'{path}.name: Invalid value: "{name}": {kind} must consist of lower case alphanumeric characters'
    yield from _labels(meta, path)


def _labels(meta: Body, path: str) -> Iterator[str]:
    for key, value in (meta.get("labels") or {}).items():
        if not _KEY.fullmatch(key) or len(key.rpartition("/")[2]) > _LONGEST_LABEL:
            yield f'{path}.labels: Invalid value: "{key}": name part must consist of alphanumeric characters'
        if not isinstance(value, str) or len(value) > _LONGEST_LABEL or not _LABEL_VALUE.fullmatch(value):
            yield f'{path}.labels: Invalid value: "{value}": a valid label must be an empty string or consist of ...'
    annotations = meta.get("annotations") or {}
    for key in annotations:
        if not _KEY.fullmatch(key):
            yield f'{path}.annotations: Invalid value: "{key}": name part must consist of alphanumeric characters'
    size = sum(len(key.encode()) + len(str(value).encode()) for key, value in annotations.items())
    if size > _ANNOTATIONS:
        yield f"{path}.annotations: Too long: may not be more than {_ANNOTATIONS} bytes"


def _job(body: Body) -> Iterator[str]:
    spec, indexed = body["spec"], body["spec"].get("completionMode") == "Indexed"
    for name in ("completions", "parallelism", "backoffLimit", "backoffLimitPerIndex", "activeDeadlineSeconds"):
        value = spec.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
            yield f"spec.{name}: Invalid value: {value}: must be greater than or equal to 0"
    if indexed and spec.get("completions") is None:
        yield "spec.completions: Required value: when completion mode is Indexed"
    last = (spec.get("completions") or 1) - 1
    longest = f"{body['metadata'].get('name', '')}-{last}"
    if indexed and len(longest) > _LONGEST_LABEL:
        yield f'metadata.name: Invalid value: "{longest}": must be no more than 63 characters'
    if "backoffLimitPerIndex" in spec and not indexed:
        yield "spec.backoffLimitPerIndex: Invalid value: requires indexed completion mode"
    if "successPolicy" in spec and not indexed:
        yield "spec.successPolicy: Invalid value: requires indexed completion mode"
    if "podFailurePolicy" in spec and spec.get("podReplacementPolicy") not in (None, "Failed"):
        yield 'spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"'
    if spec.get("manualSelector") or spec.get("selector"):
        yield "spec.selector: Invalid value: `selector` not auto-generated"
    template = spec.get("template") or {}
    yield from _labels(template.get("metadata") or {}, "spec.template.metadata")
    yield from _pod(template.get("spec") or {}, "podFailurePolicy" in spec)


def _pod(spec: Body, fails_by_policy: bool) -> Iterator[str]:
    path = "spec.template.spec"
    policy = spec.get("restartPolicy")
    if policy not in ("Never", "OnFailure"):
        yield f'{path}.restartPolicy: Required value: valid values: "OnFailure", "Never"'
    elif policy == "OnFailure" and fails_by_policy:
        words = 'only "Never" is supported when podFailurePolicy is specified'
        yield f'{path}.restartPolicy: Invalid value: "OnFailure": {words}'
    if (subdomain := spec.get("subdomain")) and not _LABEL.fullmatch(subdomain):
        yield f'{path}.subdomain: Invalid value: "{subdomain}"'
    yield from _node_affinity(spec, path)
    if not spec.get("containers"):
        yield f"{path}.containers: Required value"
    volumes = {each.get("name") for each in spec.get("volumes") or ()}
    for number, container in enumerate(spec.get("containers") or ()):
        at = f"{path}.containers[{number}]"
        if not _LABEL.fullmatch(str(container.get("name", ""))):
            yield f"{at}.name: Required value"
        if not container.get("image"):
            yield f"{at}.image: Required value"
        for mount in container.get("volumeMounts") or ():
            if mount.get("name") not in volumes:
                yield f'{at}.volumeMounts: Not found: "{mount.get("name")}"'
        yield from _resources(container.get("resources") or {}, at)


def _node_affinity(spec: Body, path: str) -> Iterator[str]:
    """Yield what is wrong with the nodes that a pod wants: how many values each operator takes is told in

    kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node
    """
    required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(_REQUIRED) or {}
    for number, term in enumerate(required.get("nodeSelectorTerms") or ()):
        for index, each in enumerate(term.get("matchExpressions") or ()):
            at = f"{path}.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms[{number}].matchExpressions[{index}]"
            operator, values = each.get("operator"), each.get("values") or ()
            if operator not in _VALUES_OF:
                yield f'{at}.operator: Invalid value: "{operator}": not a valid selector operator'
            elif not _VALUES_OF[operator][0] <= len(values) <= _VALUES_OF[operator][1]:
                yield f"{at}.values: Invalid value: {len(values)} values are not what `{operator}` takes"


def _resources(resources: Body, at: str) -> Iterator[str]:
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for kind, each in (("limits", limits), ("requests", requests)):
        for name, value in each.items():
            try:
                quantity(value)
            except ValueError as error:
                yield f'{at}.resources.{kind}[{name}]: Invalid value: "{value}": {error}'
    for name, value in requests.items():
        extended = "/" in name
        if extended and str(limits.get(name)) != str(value):
            yield f"{at}.resources.limits: Required value: Limit must be set for non overcommitable resources"
