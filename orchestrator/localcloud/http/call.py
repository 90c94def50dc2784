"""One request to the local cloud: which service and operation it is for, in which Region, with what parameters."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote

from orchestrator.localcloud.http import forms, operations
from orchestrator.localcloud.http.answers import AwsError

if TYPE_CHECKING:
    from orchestrator.localcloud.http.signature import Scope

FORMS = ("ec2", "cloudformation")
"""Services of ours whose requests are forms."""


@dataclass(frozen=True)
class Call:
    """One request, as far as it is understood before any service answers it."""

    service: str
    region: str
    """The Region; empty when the signature names none, as S3's older ones do."""
    operation: str
    body: bytes
    environ: dict[str, Any]
    key_id: str = ""
    """The key that signed it."""

    @classmethod
    def of(cls, environ: dict[str, Any], body: bytes, scope: Scope) -> Call:
        """Return the call that a WSGI request is, which is signed for this scope."""
        return cls(
            scope.service, scope.region, operations.name(scope.service, environ, body), body, environ, scope.key_id
        )

    def document(self) -> dict[str, Any]:
        """Return the parameters of body, path and query. Raise AwsError when the body cannot be read."""
        if self.service in FORMS:
            return forms.read(self.body)
        try:
            document = json.loads(self.body or b"{}")
        except ValueError as error:
            raise AwsError("SerializationException", f"the body is no JSON: {error}") from error
        if not isinstance(document, dict):
            raise AwsError("SerializationException", "the body is no JSON object")
        path = self.environ["PATH_INFO"]
        if path.startswith("/v1/tags/"):
            document["resourceArn"] = unquote(path.removeprefix("/v1/tags/"))
            document.update(parse_qs(self.environ.get("QUERY_STRING", "")))
        if self.service == "eks":
            document |= {key: values[0] for key, values in parse_qs(self.environ.get("QUERY_STRING", "")).items()}
            document |= operations.path_parameters(self.service, self.operation, operations.raw_path(self.environ))
        return document
