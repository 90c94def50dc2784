"""IAM's simulator. Where nobody is held to policies, whatever is asked is allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http import forms
from orchestrator.localcloud.iam.evaluation import Asked, Decision

if TYPE_CHECKING:
    from orchestrator.localcloud.http.call import Call
    from orchestrator.localcloud.iam.authority import Authority

SIMULATE = ("SimulatePrincipalPolicy", "SimulateCustomPolicy")


def simulate(call: Call, authority: Authority | None) -> dict[str, Any]:
    """Return AWS's answer to what a principal may do. Raise AwsError for one that is not there."""
    said = forms.read(call.body)
    actions, resources, entries = (
        said.get(name, {}).get("member", []) for name in ("ActionNames", "ResourceArns", "ContextEntries")
    )
    context = {each["ContextKeyName"].lower(): tuple(each["ContextKeyValues"]["member"]) for each in entries}
    results = []
    for action in actions:
        for resource in resources or ["*"]:
            decision = Decision(allowed=True)
            if authority and call.operation == "SimulatePrincipalPolicy":
                decision = authority.simulate(said["PolicySourceArn"], Asked(action, resource, context))
            results.append({"EvalActionName": action, "EvalResourceName": resource, "EvalDecision": _word(decision)})
    return {"EvaluationResults": results, "IsTruncated": "false"}


def _word(decision: Decision) -> str:
    if decision.allowed:
        return "allowed"
    return "explicitDeny" if "explicit deny" in decision.why else "implicitDeny"
