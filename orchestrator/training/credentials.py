"""Finds the credentials of whoever trains, in an image without boto3: in the order in which AWS's own tools look.

They stand in the environment, or a pod's service account stands for a role (IRSA), or the container's agent gives them
(ECS, EKS Pod Identity), or EC2's instance metadata does. It travels into the training: standard library only.
"""

from __future__ import annotations

import calendar
import json
import re
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from orchestrator.training.metadata import read_metadata

if TYPE_CHECKING:
    from collections.abc import Mapping

_AGENT = "http://169.254.170.2"
"""The address of ECS's agent, which gives containers the credentials of their role."""
_TIMEOUT_S = 5
_EARLY_S = 300.0
"""Seconds before their end at which credentials are fetched anew."""


class Credentials(NamedTuple):
    """What a request is signed with."""

    key_id: str
    secret: str
    token: str = ""
    ends_at: float = float("inf")
    """Seconds since the epoch."""


class Keyring:
    """The credentials of this process, fetched when they are needed and again before they end."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._lock = threading.Lock()
        self._held: Credentials | None = None

    def take(self) -> Credentials:
        """Return credentials that are good for some minutes. Raise OSError or ValueError when nobody gives any."""
        with self._lock:
            if self._held is None or time.time() > self._held.ends_at - _EARLY_S:
                self._held = find_credentials(self._environ)
            return self._held


def find_credentials(environ: Mapping[str, str]) -> Credentials:
    """Return the credentials of this process. Raise OSError or ValueError when nobody gives any."""
    if environ.get("AWS_ACCESS_KEY_ID") and environ.get("AWS_SECRET_ACCESS_KEY"):
        token = environ.get("AWS_SESSION_TOKEN", "")
        return Credentials(environ["AWS_ACCESS_KEY_ID"], environ["AWS_SECRET_ACCESS_KEY"], token)
    if environ.get("AWS_WEB_IDENTITY_TOKEN_FILE") and environ.get("AWS_ROLE_ARN"):
        return _for_web_identity(environ)
    relative, whole = (environ.get("AWS_CONTAINER_CREDENTIALS_" + end) for end in ("RELATIVE_URI", "FULL_URI"))
    if relative or whole:
        return _from_agent(_AGENT + relative if relative else str(whole), environ)
    if environ.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true":
        raise ValueError("there are no AWS credentials in the training")
    roles = "meta-data/iam/security-credentials/"
    role = (read_metadata(roles) or "").split()
    if not role:
        raise ValueError("the instance has no instance profile, and so no AWS credentials")
    return _given(json.loads(read_metadata(roles + role[0]) or "{}"))


def _from_agent(url: str, environ: Mapping[str, str]) -> Credentials:
    headers = {}
    file = environ.get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")
    if file:
        headers["Authorization"] = Path(file).read_text().strip()
    elif environ.get("AWS_CONTAINER_AUTHORIZATION_TOKEN"):
        headers["Authorization"] = environ["AWS_CONTAINER_AUTHORIZATION_TOKEN"]
    return _given(json.loads(_read(Request(url, headers=headers))))


def _for_web_identity(environ: Mapping[str, str]) -> Credentials:
    """Return what STS gives for the token of a pod's service account."""
    region = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or "us-east-1"
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    given = environ.get("AWS_ENDPOINT_URL_STS") or environ.get("AWS_ENDPOINT_URL")
    question = {
        "Action": "AssumeRoleWithWebIdentity",
        "Version": "2011-06-15",
        "RoleArn": environ["AWS_ROLE_ARN"],
        "RoleSessionName": environ.get("AWS_ROLE_SESSION_NAME", "sweep"),
        "WebIdentityToken": Path(environ["AWS_WEB_IDENTITY_TOKEN_FILE"]).read_text().strip(),
    }
    url = (given or f"https://sts.{region}.{suffix}").rstrip("/") + "/"
    text = _read(Request(url, urlencode(question).encode())).decode()
    names = ("AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration")
    found = {name: re.search(f"<{name}>([^<]+)</{name}>", text) for name in names}
    values = {name: match[1].strip() for name, match in found.items() if match}
    if "AccessKeyId" not in values or "SecretAccessKey" not in values:
        raise ValueError("STS gives no credentials for the token of the service account")
    return _given({**values, "Token": values.get("SessionToken", "")})


def _given(body: dict[str, str]) -> Credentials:
    if "AccessKeyId" not in body or "SecretAccessKey" not in body:
        raise ValueError(f"no credentials are given: {body.get('Message') or body.get('Code') or 'nothing is said'}")
    return Credentials(body["AccessKeyId"], body["SecretAccessKey"], body.get("Token", ""), _ends_at(body))


def _ends_at(body: Mapping[str, str]) -> float:
    text = body.get("Expiration", "")[:19]
    return float(calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))) if text else float("inf")


def _read(request: Request) -> bytes:
    with urlopen(request, timeout=_TIMEOUT_S) as answer:
        return bytes(answer.read())
