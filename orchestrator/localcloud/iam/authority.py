"""Decides whether a caller may make a call, and what a service may do under a role that it was handed."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http import forms
from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.iam import policy
from orchestrator.localcloud.iam.evaluation import Asked, Decision, evaluate, trusts
from orchestrator.localcloud.iam.needs.find import needs
from orchestrator.localcloud.iam.needs.scene import Scene
from orchestrator.localcloud.iam.refusal import refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from orchestrator.localcloud.http.call import Call
    from orchestrator.localcloud.iam.identities import Callers, Principal
    from orchestrator.localcloud.services.moto.identities import Identities

_FORMS = ("iam", "sts", "sns", "sqs", "cloudformation", "ec2")
"""Services whose requests are forms. SQS takes JSON, too: newer SDKs send that."""
_TAG_SESSIONS = ("pods.eks.amazonaws.com",)
"""Services that tag the sessions of a role: docs.aws.amazon.com/eks/latest/userguide/pod-id-role.html"""
_NEVER_REFUSED = "sts:GetCallerIdentity"


@dataclass(frozen=True)
class Facts:
    """What services know of what calls are about."""

    tags_of: Callable[[str], Mapping[str, str]]
    has_object: Callable[[str, str], bool]
    role_of: Callable[[str, str], str]


class Authority:
    """Holds every call against the policies of its caller, and remembers what was asked for."""

    def __init__(self, account: str, callers: Callers, identities: Identities, facts: Facts) -> None:
        self._account = account
        self._callers = callers
        self._identities = identities
        self._facts = facts
        self._asked: Counter[tuple[str, str, str, tuple[tuple[str, tuple[str, ...]], ...]]] = Counter()
        self._lock = threading.Lock()

    def check(self, call: Call) -> None:
        """Raise the refusal of a call that its caller may not make."""
        principal = self._callers.find(call.key_id, call.environ.get("HTTP_X_AMZ_SECURITY_TOKEN", ""))
        if principal.policies is None:
            return
        facts = self._facts
        scene = Scene(call, self._account, _document(call), facts.tags_of, facts.has_object, facts.role_of)
        for asked in needs(scene):
            if asked.action == _NEVER_REFUSED:
                continue
            decision = self._decide(principal, asked, call.region)
            if decision.allowed and asked.action == "sts:AssumeRole":
                decision = self._trusted(asked, ("AWS", principal.of))
            if not decision.allowed:
                raise refuse(call.service, principal.arn, asked.action, asked.resource, decision.why)

    def why_not(self, principal: Principal, asked: Iterable[Asked], region: str) -> str:
        """Return why somebody may not do one of these, in AWS's words; nothing if all is allowed."""
        for each in asked:
            decision = self._decide(principal, each, region)
            if not decision.allowed:
                return refuse("", principal.arn, each.action, each.resource, decision.why).message
        return ""

    def simulate(self, source: str, asked: Asked) -> Decision:
        """Return what would be decided of a role's or a user's own policies. Raise AwsError if there is none."""
        principal = self._callers.of_identity(source)
        if principal is None or principal.policies is None:
            raise AwsError("NoSuchEntity", f"There is no role and no user {source}.", 404)
        return evaluate(principal.policies, Asked(asked.action, asked.resource, {**principal.context, **asked.context}))

    def trusted(self, role: str, service: str) -> bool:
        """Return whether a role is there, and lets a service take it on."""
        known = {"aws:sourceaccount": (self._account,)}
        actions = ["sts:AssumeRole", *(["sts:TagSession"] if service in _TAG_SESSIONS else [])]
        return all(self._trusted(Asked(action, role, known), ("Service", service)).allowed for action in actions)

    def trusts_provider(self, role: str, provider: str, said: Mapping[str, tuple[str, ...]]) -> bool:
        """Return whether a role trusts a token of this provider's that says so much."""
        asked = Asked("sts:AssumeRoleWithWebIdentity", role, said)
        return self._trusted(asked, ("Federated", provider)).allowed

    def asked(self) -> list[dict[str, Any]]:
        """Return every permission that was asked for since the start, whom, how often, and with which context."""
        with self._lock:
            found = list(self._asked.items())
        return [
            {"who": who, "action": action, "resource": resource, "context": dict(context), "times": times}
            for (who, action, resource, context), times in found
        ]

    def _decide(self, principal: Principal, asked: Asked, region: str) -> Decision:
        if principal.policies is None:
            return Decision(allowed=True)
        full = Asked(asked.action, asked.resource, {**_of_every_call(region), **principal.context, **asked.context})
        kept = tuple(sorted((key, values) for key, values in asked.context.items() if values))
        with self._lock:
            self._asked[principal.of, asked.action, asked.resource, kept] += 1
        return evaluate(principal.policies, full)

    def _trusted(self, asked: Asked, principal: tuple[str, str]) -> Decision:
        role = self._identities.role(asked.resource)
        root = f"arn:aws:iam::{self._account}:root"
        names = [principal, ("AWS", root), ("AWS", self._account)] if principal[0] == "AWS" else [principal]
        if role is not None:
            trust = policy.read("who may take the role on", role.trust)
            if any(trusts(trust, name, asked) for name in names):
                return Decision(allowed=True)
        return Decision(allowed=False, why="because the role's trust policy does not allow it")


def _of_every_call(region: str) -> dict[str, tuple[str, ...]]:
    now = datetime.now(timezone.utc)
    return {
        "aws:requestedregion": (region,),
        "aws:currenttime": (now.strftime("%Y-%m-%dT%H:%M:%SZ"),),
        "aws:epochtime": (str(int(now.timestamp())),),
        "aws:sourceip": ("127.0.0.1",),
        # AWS's own endpoints, which this one stands for, are reached by TLS only.
        "aws:securetransport": ("true",),
    }


def _document(call: Call) -> Mapping[str, Any]:
    if call.service in _FORMS and call.body and not call.body.startswith(b"{"):
        return forms.read(call.body)
    if call.service == "s3":
        return {}
    return call.document()
