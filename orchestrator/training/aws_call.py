"""One call to an AWS service that speaks JSON, with the training's own credentials: by boto3, or without it.

An image need not have boto3. Then the request is signed here, with the credentials that the container is given.

It travels into the training: standard library only.
"""

from __future__ import annotations

import json
import random
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from orchestrator.training.credentials import Keyring
from orchestrator.training.signature import Call, signed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_TRIES = 6
_TIMEOUT_S = 20
_PASSING = ("Throttling", "ThrottlingException", "TooManyRequestsException", "RequestLimitExceeded")
"""Refusals that pass, besides those that are the service's own fault."""
_VARIABLES = {"secretsmanager": "SECRETS_MANAGER", "logs": "CLOUDWATCH_LOGS"}
"""Ends of the names of the variables with a service's endpoint, where they are not its own name."""
_HOSTS = {"ecr": "api.ecr"}


class CallFailed(Exception):
    """AWS has refused a call, or has not answered it: in one line. `passes` says that it may do it later."""

    def __init__(self, problem: str, *, passes: bool = False) -> None:
        super().__init__(problem)
        self.passes = passes


class Address(NamedTuple):
    """What is asked for, and where. `target` names the operation as the service's header does."""

    service: str
    region: str
    target: str


def call(service: str, region: str, target: str, body: dict[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the answer to a call. `target` names the operation as the service's header does, `ssm` or the like it.

    Raise CallFailed when AWS refuses, or gives no answer after several tries.
    """
    if find_spec("boto3"):
        return _by_boto3(service, region, target.rpartition(".")[2], body)
    return call_by_hand(Address(service, region, target), body, environ, Keyring(environ))


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


def call_by_hand(
    address: Address, body: dict[str, Any], environ: Mapping[str, str], keyring: Keyring
) -> dict[str, Any]:
    """Return the answer to a call that is signed here. Raise CallFailed as `call` does."""
    url = endpoint(address.service, address.region, environ) + "/"
    data = json.dumps(body).encode()
    own = {"content-type": "application/x-amz-json-1.1", "x-amz-target": address.target}
    asked = Call(address.service, address.region, "POST", url, own, data)
    wait_s = 0.5
    for left in reversed(range(_TRIES)):
        try:
            headers = signed(asked, keyring.take())
            with urlopen(Request(url, data, headers), timeout=_TIMEOUT_S) as answer:
                found: dict[str, Any] = json.loads(answer.read() or b"{}")
                return found
        except HTTPError as error:
            problem, passes = _refusal(error)
        except (URLError, OSError, ValueError) as error:
            problem, passes = f"{url}: {getattr(error, 'reason', None) or error}", True
        if not passes or not left:
            break
        time.sleep(random.uniform(0, wait_s))
        wait_s *= 2
    raise CallFailed(" ".join(problem.split()), passes=passes)


def endpoint(service: str, region: str, environ: Mapping[str, str]) -> str:
    """Return the address of a service in a Region, without a slash at its end."""
    own = "AWS_ENDPOINT_URL_" + _VARIABLES.get(service, service.upper())
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    host = f"{_HOSTS.get(service, service)}.{region}.{suffix}"
    return (environ.get(own) or environ.get("AWS_ENDPOINT_URL") or f"https://{host}").rstrip("/")


def _refusal(error: HTTPError) -> tuple[str, bool]:
    """Return AWS's words, and whether it may do it when asked again."""
    try:
        body = json.loads(error.read() or b"{}")
    except (ValueError, OSError):
        body = {}
    code = str(body.get("__type", "")).rpartition("#")[2] or f"HTTP {error.code}"
    words = str(body.get("message") or body.get("Message") or error.reason)
    return f"{code}: {words}", error.code >= 500 or code in _PASSING
