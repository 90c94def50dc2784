"""Which node has room for a pod? Nodes are chosen by labels, taints, and what they still have of what they count."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.eks.kubernetes.pods.pods import has_ended, requests_of
from orchestrator.localcloud.services.eks.kubernetes.quantities import quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Body = dict[str, Any]

_OTHER_NODES = "node(s) didn't match Pod's node affinity/selector"


def find_node(pod: Body, nodes: Iterable[Body], pods: Iterable[Body]) -> tuple[Body | None, str]:
    """Return a node with room for a pod; or None, and why there is none, in the words of Kubernetes' scheduler."""
    asked = {"pods": Fraction(1), **requests_of(pod["spec"])}
    used: dict[str, Counter[str]] = {}
    for other in pods:
        if (name := other["spec"].get("nodeName")) and not has_ended(other):
            held = used.setdefault(name, Counter())
            held.update({"pods": Fraction(1), **requests_of(other["spec"])})
    reasons: Counter[str] = Counter()
    total = 0
    for node in nodes:
        total += 1
        why_not = _why_not(pod["spec"], node, asked, used.get(node["metadata"]["name"], Counter()))
        if not why_not:
            return node, ""
        reasons[why_not] += 1
    told = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    return None, f"0/{total} nodes are available: {told or 'no nodes'}."


def _why_not(spec: Body, node: Body, asked: Mapping[str, Fraction], used: Mapping[str, Any]) -> str:
    labels = node["metadata"]["labels"]
    if node["spec"].get("unschedulable"):
        return "node(s) were unschedulable"
    if any(labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
        return _OTHER_NODES
    required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    if required and not any(_fits_term(term, labels) for term in required["nodeSelectorTerms"]):
        return _OTHER_NODES
    for taint in node["spec"].get("taints", ()):
        if taint["effect"] == "NoSchedule" and not any(
            _tolerates(each, taint) for each in spec.get("tolerations") or ()
        ):
            return f"node(s) had untolerated taint {{{taint['key']}: {taint.get('value', '')}}}"
    for name, amount in asked.items():
        if quantity(node["status"]["allocatable"].get(name, "0")) - used.get(name, 0) < amount:
            return f"Insufficient {name}"
    return ""


def _fits_term(term: Body, labels: Mapping[str, str]) -> bool:
    return all(_fits(each, labels.get(each["key"])) for each in term.get("matchExpressions") or ())


def _fits(expression: Body, value: str | None) -> bool:
    operator: str = expression["operator"]
    values: list[str] = expression.get("values") or []
    if operator == "In":
        return bool(value in values)
    if operator == "NotIn":
        return bool(value not in values)  # one without the label fits too
    if operator in ("Gt", "Lt"):
        number, bound = _integer(value), _integer(values[0])
        if number is None or bound is None:
            return False
        return number > bound if operator == "Gt" else number < bound
    return (value is not None) is (operator == "Exists")


def _integer(text: str | None) -> int | None:
    try:
        return int(text or "")
    except ValueError:
        return None


def _tolerates(toleration: Body, taint: Body) -> bool:
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    if toleration.get("operator") == "Exists":
        return toleration.get("key") in (None, "", taint["key"])
    return (toleration.get("key"), toleration.get("value", "")) == (taint["key"], taint.get("value", ""))
