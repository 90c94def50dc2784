"""AWS's answers: a document, or an error, in the dialect that the service speaks."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Mapping


class AwsError(Exception):
    """An error as AWS's SDKs read it. 4xx is the caller's fault and is not retried."""

    def __init__(
        self,
        code: str,
        message: str,
        status: int = 400,
        *,
        details: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """`details`: what S3 adds to its errors."""
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        self.details = details or {}
        self.headers = headers or {}


_THROTTLED = {
    "batch": ("TooManyRequestsException", "Too Many Requests", 429),
    "ec2": ("RequestLimitExceeded", "Request limit exceeded.", 503),
    "kubernetes": ("TooManyRequests", "the server has received too many requests and has asked us to try again", 429),
    "s3": ("SlowDown", "Please reduce your request rate.", 503),
}


def throttled(service: str) -> AwsError:
    """Return the error with which a service refuses a call too many; the caller raises it."""
    return AwsError(*_THROTTLED.get(service, ("ThrottlingException", "Rate exceeded", 400)))


_PROLOGUE = '<?xml version="1.0" encoding="UTF-8"?>'


@dataclass(frozen=True)
class Answer:
    """An HTTP answer."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


RESET = Answer(0)
"""No answer: the connection breaks."""


def document(value: dict[str, Any] | None, content_type: str = "application/json") -> Answer:
    """Return a JSON document; an empty one for None."""
    return Answer(200, json.dumps(value or {}).encode(), _headers(content_type))


def query(operation: str, value: dict[str, Any]) -> Answer:
    """Return an answer of EC2's: XML in which a list is a set of items."""
    body = f"<{operation}Response><requestId>{uuid.uuid4()}</requestId>{_elements(value)}</{operation}Response>"
    return Answer(200, f"{_PROLOGUE}{body}".encode(), _headers("text/xml"))


def members(operation: str, value: dict[str, Any]) -> Answer:
    """Return an answer of IAM's: XML in which a list is a set of members."""
    result = f"<{operation}Result>{_elements(value, 'member')}</{operation}Result>"
    about = f"<ResponseMetadata><RequestId>{uuid.uuid4()}</RequestId></ResponseMetadata>"
    body = f"<{operation}Response>{result}{about}</{operation}Response>"
    return Answer(200, f"{_PROLOGUE}{body}".encode(), _headers("text/xml"))


def _elements(value: Any, item: str = "item") -> str:
    if isinstance(value, dict):
        return "".join(f"<{name}>{_elements(each, item)}</{name}>" for name, each in value.items())
    if isinstance(value, list):
        return "".join(f"<{item}>{_elements(each, item)}</{item}>" for each in value)
    return escape(str(value))


def error(service: str, problem: AwsError) -> Answer:
    """Return an error in the dialect of the service: XML for the old ones, JSON for the rest."""
    if service in ("s3", "s3control"):
        details = "".join(f"<{name}>{escape(value)}</{name}>" for name, value in problem.details.items())
        start = "<Error><Code>{code}</Code><Message>{message}</Message>"
        return _xml(problem, start + details + "<RequestId>{id}</RequestId></Error>")
    if service == "ec2":
        return _xml(
            problem,
            "<Response><Errors><Error><Code>{code}</Code><Message>{message}</Message></Error></Errors>"
            "<RequestID>{id}</RequestID></Response>",
        )
    if service in ("iam", "sts", "autoscaling", "cloudformation", "sns", "elasticloadbalancing", "rds"):
        return _xml(
            problem,
            "<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error>"
            "<RequestId>{id}</RequestId></ErrorResponse>",
        )
    if service == "kubernetes":
        return _status(problem)
    body = json.dumps({"__type": problem.code, "message": problem.message}).encode()
    return Answer(problem.status, body, {**_headers("application/json"), "x-amzn-ErrorType": problem.code})


_REASONS = {403: "Forbidden", 429: "TooManyRequests", 500: "InternalError"}


def _status(problem: AwsError) -> Answer:
    """Return an error of a Kubernetes API, whose words for what is too much or broken are those of its status."""
    body: dict[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": problem.message,
    }
    body |= {"reason": _REASONS.get(problem.status, problem.code), "code": problem.status}
    return Answer(problem.status, json.dumps(body).encode(), {"Content-Type": "application/json"})


def _xml(problem: AwsError, form: str) -> Answer:
    text = form.format(code=escape(problem.code), message=escape(problem.message), id=uuid.uuid4())
    headers = {**_headers("text/xml"), **problem.headers}
    return Answer(problem.status, f"{_PROLOGUE}{text}".encode(), headers)


def _headers(content_type: str) -> dict[str, str]:
    return {"Content-Type": content_type, "x-amzn-RequestId": str(uuid.uuid4())}
