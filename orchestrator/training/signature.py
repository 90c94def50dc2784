"""Signs a request to AWS (Signature Version 4), in an image without boto3.

It travels into the training: standard library only.
"""

from __future__ import annotations

import hmac
import time
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from orchestrator.training.credentials import Credentials


class Call(NamedTuple):
    """A request that is not signed yet. Its URL is written as it is sent: path and query quoted, the query sorted."""

    service: str
    region: str
    method: str
    url: str
    headers: dict[str, str]
    """Headers to be signed, their names in small letters: those of the host and of the signature come on top."""
    body: bytes


def signed(call: Call, credentials: Credentials) -> dict[str, str]:
    """Return all headers of a request, with its signature as of now."""
    url, checksum = urlsplit(call.url), sha256(call.body).hexdigest()
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    scope = f"{moment[:8]}/{call.region}/{call.service}/aws4_request"
    headers = {**call.headers, "host": url.netloc, "x-amz-date": moment}
    if call.service == "s3":
        headers["x-amz-content-sha256"] = checksum
    if credentials.token:
        headers["x-amz-security-token"] = credentials.token
    names = ";".join(sorted(headers))
    lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
    request = "\n".join((call.method, url.path or "/", url.query, lines, names, checksum))
    text = "\n".join(("AWS4-HMAC-SHA256", moment, scope, sha256(request.encode()).hexdigest()))
    key = ("AWS4" + credentials.secret).encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), sha256).digest()
    signature = hmac.new(key, text.encode(), sha256).hexdigest()
    credential = f"{credentials.key_id}/{scope}"
    headers["authorization"] = f"AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={names}, Signature={signature}"
    return headers
