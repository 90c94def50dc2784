"""AWS's words for what a caller may not do: each service has a code of its own."""

from __future__ import annotations

from orchestrator.localcloud.http.answers import AwsError

_XML = ("iam", "sts", "cloudformation", "sqs", "autoscaling")
"""Services that say AccessDenied; those that speak JSON say AccessDeniedException."""


def refuse(service: str, principal: str, action: str, resource: str, why: str) -> AwsError:
    """Return a service's refusal of a call; the caller raises it. It names who, what, on which resource, and why."""
    on = "" if resource == "*" else f" on resource: {_shown(service, resource)}"
    text = f"User: {principal} is not authorized to perform: {action}{on} {why}"
    if service == "ec2":
        return AwsError("UnauthorizedOperation", f"You are not authorized to perform this operation. {text}", 403)
    if service == "sns":
        return AwsError("AuthorizationError", text, 403)
    if service in ("s3", *_XML):
        return AwsError("AccessDenied", text, 403)
    return AwsError("AccessDeniedException", text, 403 if service in ("batch", "scheduler") else 400)


def _shown(service: str, resource: str) -> str:
    return f'"{resource}"' if service == "s3" else resource
