"""Roles that are taken on with a token of somebody else's instead of keys: STS's AssumeRoleWithWebIdentity.

docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html says what is asked and answered, and
docs.aws.amazon.com/eks/latest/userguide/iam-roles-for-service-accounts.html what a cluster's tokens say. Here they are
signed by a secret of this cloud: nobody else has to read them.
"""

from __future__ import annotations

import base64
import hmac
import json
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from orchestrator.localcloud.http import answers
from orchestrator.localcloud.http.answers import AwsError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.localcloud.clock import Clock
    from orchestrator.localcloud.http.answers import Answer
    from orchestrator.localcloud.iam.authority import Authority
    from orchestrator.localcloud.services.moto.identities import Identities

OPERATION = "AssumeRoleWithWebIdentity"
AUDIENCE = "sts.amazonaws.com"
_LASTS_S = 86_400.0
"""Seconds for which the token of a pod is good: "The default value is 86400 (24 hours)"."""
_KEYS_LAST_S = 3600.0


@dataclass(frozen=True)
class WebIdentities:
    """Gives out tokens, and gives keys of a role to whoever brings one that the role trusts."""

    account: str
    clock: Clock
    identities: Identities
    authority: Authority | None = None
    """What roles are asked by whom they trust; None for a cloud in which everybody may do everything."""
    _secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    def make_token(self, issuer: str, subject: str) -> str:
        """Return a token by which an issuer says who somebody is."""
        now = int(self.clock.now())
        claims = {"iss": issuer, "sub": subject, "aud": [AUDIENCE], "iat": now, "exp": now + int(_LASTS_S)}
        told = ".".join(_encode(json.dumps(part).encode()) for part in ({"alg": "HS256", "typ": "JWT"}, claims))
        return f"{told}.{self._sign(told)}"

    def asks(self, environ: Mapping[str, Any], body: bytes) -> bool:
        """Say whether a request that nobody has signed asks for keys by a token."""
        return "HTTP_AUTHORIZATION" not in environ and f"Action={OPERATION}".encode() in body

    def answer(self, body: bytes) -> Answer:
        """Return the keys of a role, or STS's refusal."""
        form = {name: values[0] for name, values in parse_qs(body.decode("utf-8", "replace")).items()}
        try:
            role, session = form["RoleArn"], form["RoleSessionName"]
            claims = self._read(form["WebIdentityToken"])
            self._check(role, claims)
        except KeyError as missing:
            return answers.error("sts", AwsError("ValidationError", f"{missing.args[0]} is missing", 400))
        except AwsError as refusal:
            return answers.error("sts", refusal)
        made = self.identities.take_on(role, session)
        ends = datetime.fromtimestamp(self.clock.now(), timezone.utc) + timedelta(seconds=_KEYS_LAST_S)
        keys = {
            "AccessKeyId": made.key_id,
            "SecretAccessKey": made.secret,
            "SessionToken": made.token,
            "Expiration": ends.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        told = {"SubjectFromWebIdentityToken": claims["sub"], "Provider": claims["iss"], "Audience": AUDIENCE}
        return answers.members(OPERATION, {"Credentials": keys, **told})

    def _read(self, token: str) -> dict[str, Any]:
        """Return what a token says. Raise AwsError for one that is not ours, or too old."""
        told, _, signature = token.rpartition(".")
        if not hmac.compare_digest(signature.encode(), self._sign(told).encode()):
            raise AwsError("InvalidIdentityToken", "The web identity token that was passed is not valid", 400)
        payload = told.partition(".")[2]
        claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        if claims["exp"] < self.clock.now():
            message = "The web identity token that was passed is expired or is not valid"
            raise AwsError("ExpiredTokenException", message, 400)
        return claims

    def _check(self, role: str, claims: Mapping[str, Any]) -> None:
        refused = AwsError("AccessDenied", f"Not authorized to perform sts:{OPERATION}", 403)
        if self.identities.role(role) is None:
            raise refused
        issuer = str(claims["iss"]).removeprefix("https://")
        provider = f"arn:aws:iam::{self.account}:oidc-provider/{issuer}"
        said = {f"{issuer}:sub".lower(): (claims["sub"],), f"{issuer}:aud".lower(): tuple(claims["aud"])}
        if self.authority and not self.authority.trusts_provider(role, provider, said):
            raise refused

    def _sign(self, told: str) -> str:
        return _encode(hmac.digest(self._secret, told.encode(), sha256))


def _encode(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")
