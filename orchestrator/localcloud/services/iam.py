"""IAM's simulator. Nobody's permissions are held against anything here, so whatever is asked is allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http import forms

if TYPE_CHECKING:
    from orchestrator.localcloud.http.call import Call

SIMULATE = ("SimulatePrincipalPolicy", "SimulateCustomPolicy")


def simulate(call: Call) -> dict[str, Any]:
    """Return AWS's answer to what a principal may do: everything."""
    asked = forms.read(call.body)
    actions, resources = (asked.get(name, {}).get("member", []) for name in ("ActionNames", "ResourceArns"))
    results = [
        {"EvalActionName": action, "EvalResourceName": resource, "EvalDecision": "allowed"}
        for action in actions
        for resource in resources or ["*"]
    ]
    return {"EvaluationResults": results, "IsTruncated": "false"}
