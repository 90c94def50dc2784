"""Who asks a cluster for something? A bearer token of EKS is a URL of STS, signed by whoever asks.

A real cluster sends it to STS. We check the signature as STS would: github.com/kubernetes-sigs/aws-iam-authenticator
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from orchestrator.localcloud.http import signature
from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.services.eks.kubernetes.status import unauthorized

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud.iam.identities import Callers

PREFIX = "k8s-aws-v1."
_LONGEST = 4096
_LASTS_S = 15 * 60
"""Seconds from its date for which a token is good, whatever its URL says of itself."""


class Tokens:
    """Finds who has signed a token."""

    def __init__(self, callers: Callers, secret_of: Callable[[str], str | None]) -> None:
        self._callers = callers
        self._secret_of = secret_of

    def principal(self, authorization: str, cluster: str, region: str) -> str:
        """Return the ARN of the user or the role that asks. Raise KubeError for a token that is not this cluster's."""
        kind, _, token = authorization.partition(" ")
        if kind != "Bearer" or not token.startswith(PREFIX) or len(token) > _LONGEST:
            raise unauthorized()
        try:
            text = token.removeprefix(PREFIX)
            url = urlsplit(base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True).decode())
        except (binascii.Error, ValueError):
            raise unauthorized() from None
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        ours = url.scheme == "https" and url.netloc in (f"sts.{region}.amazonaws.com", "sts.amazonaws.com")
        signed = query.get("X-Amz-SignedHeaders", "").split(";")
        if not ours or query.get("Action") != "GetCallerIdentity" or "x-k8s-aws-id" not in signed:
            raise unauthorized()
        environ = {
            "REQUEST_METHOD": "GET",
            "PATH_INFO": url.path,
            "QUERY_STRING": url.query,
            "REQUEST_URI": f"{url.path}?{url.query}",
            "HTTP_HOST": url.netloc,
            "HTTP_X_K8S_AWS_ID": cluster,
        }
        try:
            scope = signature.check(environ, b"", self._secret_of, lasts_s=_LASTS_S)
            if scope.service != "sts":
                raise unauthorized()
            return self._callers.find(scope.key_id, query.get("X-Amz-Security-Token", "")).of
        except AwsError:
            raise unauthorized() from None
