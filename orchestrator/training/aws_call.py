"""One call to an AWS service that speaks JSON, with the training's own credentials: by boto3, or without it.

An image need not have boto3. Then the request is signed here (Signature Version 4), with the credentials that the
container is given: in its environment, by its container agent, or by EC2's instance metadata.

It travels into the training: standard library only.
"""

from __future__ import annotations

import hmac
import json
import random
import time
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_TRIES = 6
_TIMEOUT_S = 20
_AGENT = "http://169.254.170.2"
"""The address of ECS's agent, which gives containers the credentials of their role."""
_METADATA = "http://169.254.169.254/latest"
_PASSING = ("Throttling", "ThrottlingException", "TooManyRequestsException", "RequestLimitExceeded")
"""Refusals that pass, besides those that are the service's own fault."""


class CallFailed(Exception):
    """AWS has refused a call, or has not answered it: in one line."""


class _Address(NamedTuple):
    """What is asked for, and where."""

    service: str
    region: str
    target: str


class _Credentials(NamedTuple):
    key_id: str
    secret: str
    token: str = ""


def call(service: str, region: str, target: str, body: dict[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the answer to a call. `target` names the operation as the service's header does, `ssm` or the like it.

    Raise CallFailed when AWS refuses, or gives no answer after several tries.
    """
    if find_spec("boto3"):
        return _by_boto3(service, region, target.rpartition(".")[2], body)
    return _by_hand(_Address(service, region, target), body, environ)


def _by_boto3(service: str, region: str, operation: str, body: dict[str, Any]) -> dict[str, Any]:
    import boto3
    from botocore import xform_name
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError

    config = Config(retries={"mode": "standard", "total_max_attempts": _TRIES})
    try:
        client: Any = boto3.session.Session(region_name=region).client(service, config=config)  # type: ignore[call-overload]
        answer: dict[str, Any] = getattr(client, xform_name(operation))(**body)
    except (BotoCoreError, ClientError) as error:
        raise CallFailed(" ".join(str(error).split())) from None
    return answer


def _by_hand(address: _Address, body: dict[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    url = _endpoint(address, environ)
    data = json.dumps(body).encode()
    wait_s = 0.5
    for left in reversed(range(_TRIES)):
        try:
            headers = _signed(address, data, url, _credentials(environ))
            with urlopen(Request(url, data, headers), timeout=_TIMEOUT_S) as answer:
                found: dict[str, Any] = json.load(answer)
                return found
        except HTTPError as error:
            problem, passes = _refusal(error)
        except (URLError, OSError, ValueError) as error:
            problem, passes = f"{url}: {getattr(error, 'reason', None) or error}", True
        if not passes or not left:
            break
        time.sleep(random.uniform(0, wait_s))
        wait_s *= 2
    raise CallFailed(" ".join(problem.split()))


def _endpoint(address: _Address, environ: Mapping[str, str]) -> str:
    own = "AWS_ENDPOINT_URL_" + {"ssm": "SSM", "secretsmanager": "SECRETS_MANAGER"}[address.service]
    given = environ.get(own) or environ.get("AWS_ENDPOINT_URL")
    suffix = "amazonaws.com.cn" if address.region.startswith("cn-") else "amazonaws.com"
    return (given or f"https://{address.service}.{address.region}.{suffix}").rstrip("/") + "/"


def _refusal(error: HTTPError) -> tuple[str, bool]:
    """Return AWS's words, and whether it may do it when asked again."""
    try:
        body = json.loads(error.read() or b"{}")
    except (ValueError, OSError):
        body = {}
    code = str(body.get("__type", "")).rpartition("#")[2] or f"HTTP {error.code}"
    words = str(body.get("message") or body.get("Message") or error.reason)
    return f"{code}: {words}", error.code >= 500 or code in _PASSING


def _signed(address: _Address, body: bytes, url: str, credentials: _Credentials) -> dict[str, str]:
    """Return the headers of a request, with its signature."""
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    scope = f"{moment[:8]}/{address.region}/{address.service}/aws4_request"
    headers = {
        "content-type": "application/x-amz-json-1.1",
        "host": urlsplit(url).netloc,
        "x-amz-date": moment,
        "x-amz-target": address.target,
    }
    if credentials.token:
        headers["x-amz-security-token"] = credentials.token
    names = ";".join(sorted(headers))
    lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
    request = "\n".join(("POST", urlsplit(url).path, "", lines, names, sha256(body).hexdigest()))
    text = "\n".join(("AWS4-HMAC-SHA256", moment, scope, sha256(request.encode()).hexdigest()))
    key = ("AWS4" + credentials.secret).encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), sha256).digest()
    signature = hmac.new(key, text.encode(), sha256).hexdigest()
    credential = f"{credentials.key_id}/{scope}"
    headers["authorization"] = f"AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={names}, Signature={signature}"
    return headers


# Credentials


def _credentials(environ: Mapping[str, str]) -> _Credentials:
    """Return the training's own credentials. Raise OSError or ValueError when nobody gives any."""
    if environ.get("AWS_ACCESS_KEY_ID") and environ.get("AWS_SECRET_ACCESS_KEY"):
        token = environ.get("AWS_SESSION_TOKEN", "")
        return _Credentials(environ["AWS_ACCESS_KEY_ID"], environ["AWS_SECRET_ACCESS_KEY"], token)
    relative, whole = (environ.get("AWS_CONTAINER_CREDENTIALS_" + end) for end in ("RELATIVE_URI", "FULL_URI"))
    if relative or whole:
        headers = {}
        file = environ.get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")
        if file:
            headers["Authorization"] = Path(file).read_text().strip()
        elif environ.get("AWS_CONTAINER_AUTHORIZATION_TOKEN"):
            headers["Authorization"] = environ["AWS_CONTAINER_AUTHORIZATION_TOKEN"]
        return _given(_read(Request(_AGENT + relative if relative else str(whole), headers=headers)))
    if environ.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true":
        raise ValueError("there are no AWS credentials in the training")
    ttl = {"X-aws-ec2-metadata-token-ttl-seconds": "300"}
    session = _read(Request(_METADATA + "/api/token", headers=ttl, method="PUT")).decode()
    headers = {"X-aws-ec2-metadata-token": session}
    roles = _METADATA + "/meta-data/iam/security-credentials/"
    role = _read(Request(roles, headers=headers)).decode().split()[0]
    return _given(_read(Request(roles + role, headers=headers)))


def _given(text: bytes) -> _Credentials:
    body = json.loads(text)
    return _Credentials(body["AccessKeyId"], body["SecretAccessKey"], body.get("Token", ""))


def _read(request: Request) -> bytes:
    with urlopen(request, timeout=5) as answer:
        return bytes(answer.read())
