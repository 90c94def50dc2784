"""An S3 at botocore's doorstep: real requests, answered from a bucket in memory, page by page, and counted.

bucket = Bucket()
with_doorstep = Doorstep(bucket, Clients())
S3(with_doorstep.clients, "us-east-1", "control").list("runs/")
with_doorstep.counts      # {"list": 1}
"""

from __future__ import annotations

import io
from collections import Counter
from email.utils import formatdate
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

from botocore.awsrequest import AWSResponse

from orchestrator.errors import AlreadyExists, NotFound

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients
    from tests.launcher.fakes import Bucket

PAGE = 1_000
"""Keys that S3 lists in one answer, at the most."""


class Doorstep:
    """Answers every request to S3 before it leaves this process, and counts it."""

    def __init__(self, bucket: Bucket, clients: Clients, region: str = "us-east-1") -> None:
        self.bucket = bucket
        self.clients = clients
        self.counts: Counter[str] = Counter()
        clients.client("s3", region).meta.events.register_first("before-send.s3", self._answer)

    def _answer(self, request: Any, **_: Any) -> AWSResponse:
        url = urlsplit(request.url)
        query = {name: values[0] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
        key = unquote(url.path.lstrip("/"))
        if not url.netloc.startswith(f"{self.bucket.bucket}."):
            key = key.partition("/")[2]
        if "list-type" in query:
            self.counts["list"] += 1
            return _response(request.url, 200, self._listing(query))
        self.counts[request.method.lower()] += 1
        try:
            return self._object(request, key)
        except NotFound:
            return _response(request.url, 404, _error("NoSuchKey"))
        except AlreadyExists:
            return _response(request.url, 412, _error("PreconditionFailed"))

    def _object(self, request: Any, key: str) -> AWSResponse:
        if request.method == "PUT":
            match = request.headers.get("If-Match")
            body = request.body if isinstance(request.body, bytes) else request.body.read()
            if "X-Amz-Trailer" in request.headers:  # sent in one chunk: its length, itself, a checksum
                length, _, rest = body.partition(b"\r\n")
                body = rest[: int(length, 16)]
            etag = self.bucket.put_if(key, body, match.decode() if isinstance(match, bytes) else match)
            return _response(request.url, 200, b"", ETag=etag)
        if request.method == "DELETE":
            self.bucket.delete(key)
            return _response(request.url, 204, b"")
        stored = self.bucket.get(key)
        return _response(request.url, 200, stored.body, ETag=stored.etag)

    def _listing(self, query: dict[str, str]) -> bytes:
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        after = query.get("continuation-token") or query.get("start-after", "")
        names: dict[str, str] = {}
        for item in self.bucket.list(prefix, after):
            folder, slash, _ = item.key.removeprefix(prefix).partition(delimiter) if delimiter else (item.key, "", "")
            names.setdefault(prefix + folder + slash if slash else item.key, "" if slash else item.etag)
            if len(names) > PAGE:
                break
        page = list(names.items())[:PAGE]
        more = len(names) > PAGE
        contents = "".join(
            f"<Contents><Key>{escape(key)}</Key><ETag>{escape(etag)}</ETag><Size>0</Size>"
            "<LastModified>2026-11-22T00:00:00.000Z</LastModified></Contents>"
            if etag
            else f"<CommonPrefixes><Prefix>{escape(key)}</Prefix></CommonPrefixes>"
            for key, etag in page
        )
        token = f"<NextContinuationToken>{escape(page[-1][0])}</NextContinuationToken>" if more else ""
        head = f"<IsTruncated>{str(more).lower()}</IsTruncated>{token}"
        return f"<ListBucketResult>{head}{contents}</ListBucketResult>".encode()


class _Raw(io.BytesIO):
    def stream(self, **_: Any) -> Any:
        yield self.read()


def _response(url: str, status: int, body: bytes, **headers: str) -> AWSResponse:
    return AWSResponse(url, status, {"Date": formatdate(usegmt=True), **headers}, _Raw(body))  # type: ignore[arg-type]


def _error(code: str) -> bytes:
    return f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode()
