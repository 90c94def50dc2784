"""AWS's answers: a JSON document, or an error in the dialect that the service speaks."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import escape


class AwsError(Exception):
    """An error as AWS's SDKs read it. 4xx is the caller's fault and is not retried."""

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


RESET = Answer(0)
"""No answer: the connection breaks."""


def document(value: dict[str, Any] | None, content_type: str = "application/json") -> Answer:
    return Answer(200, json.dumps(value or {}).encode(), _headers(content_type))


def error(service: str, problem: AwsError) -> Answer:
    """In the dialect of the service: XML for the old ones, JSON for the rest."""
    if service in ("s3", "s3control"):
        return _xml(
            problem, "<Error><Code>{code}</Code><Message>{message}</Message><RequestId>{id}</RequestId></Error>"
        )
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
    body = json.dumps({"__type": problem.code, "message": problem.message}).encode()
    return Answer(problem.status, body, {**_headers("application/json"), "x-amzn-ErrorType": problem.code})


def _xml(problem: AwsError, form: str) -> Answer:
    text = form.format(code=escape(problem.code), message=escape(problem.message), id=uuid.uuid4())
    return Answer(problem.status, f'<?xml version="1.0" encoding="UTF-8"?>{text}'.encode(), _headers("text/xml"))


def _headers(content_type: str) -> dict[str, str]:
    return {"Content-Type": content_type, "x-amzn-RequestId": str(uuid.uuid4())}
