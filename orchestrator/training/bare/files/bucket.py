"""S3 by hand: objects are read, written once or again, and listed, whatever the image has.

It travels into the training: standard library only.
"""

from __future__ import annotations

import http.client
import random
import re
import time
from typing import TYPE_CHECKING, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import quote, unquote, urlencode
from urllib.request import Request, urlopen
from xml.etree import ElementTree

from orchestrator.training.aws_call import endpoint
from orchestrator.training.signature import Call, signed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orchestrator.training.credentials import Keyring

_TRIES = 8
_TIMEOUT_S = 60
_CONFLICT = 409
_EXISTS = 412
_PASSING = (_CONFLICT, 429)
"""Refusals that pass, besides those that are S3's own fault."""


class S3Failed(Exception):
    """S3 has refused a call, or has not answered it: in one line."""


class NotThere(S3Failed):
    """There is no such object."""


class Uri(NamedTuple):
    """An address in S3."""

    bucket: str
    key: str

    @classmethod
    def parse(cls, text: str) -> Uri:
        """Return the address that stands in a text. Raise S3Failed when it is none."""
        scheme, _, rest = text.partition("://")
        bucket, _, key = rest.partition("/")
        if scheme != "s3" or not bucket:
            raise S3Failed(f"not an S3 URI: {text!r}")
        return cls(bucket, key)

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.key}"


class Found(NamedTuple):
    """An object that a list has shown."""

    uri: Uri
    size: int


class Answer(NamedTuple):
    """An answer of S3, with the names of its headers in small letters."""

    headers: dict[str, str]
    body: bytes


class _Refused(S3Failed):
    def __init__(self, status: int, code: str, words: str) -> None:
        super().__init__(" ".join(words.split()))
        self.status = status
        self.code = code


class Bucket:
    """S3 in one Region, for whoever has these credentials. Several threads may use it at once."""

    def __init__(self, region: str, environ: Mapping[str, str], keyring: Keyring) -> None:
        self._region = region
        self._endpoint = endpoint("s3", region, environ)
        self._keyring = keyring

    def read(self, uri: Uri, part: slice | None = None) -> bytes:
        """Return an object, or a part of its bytes. Raise NotThere when there is none."""
        headers = {"range": f"bytes={part.start}-{part.stop - 1}"} if part else {}
        return self._ask("GET", uri, headers=headers).body

    def write(self, uri: Uri, body: bytes, *, once: bool = False) -> bool:
        """Write an object; return False when it may be written once only, and is there already."""
        try:
            self._ask("PUT", uri, body=body, headers={"if-none-match": "*"} if once else {})
        except _Refused as refused:
            if refused.status == _EXISTS and once:
                return False
            raise
        return True

    def list(self, prefix: Uri) -> Iterator[Found]:
        """Yield every object whose key begins with the prefix's, in the order of the keys."""
        question = {"list-type": "2", "prefix": prefix.key, "encoding-type": "url"}
        while True:
            root = ElementTree.fromstring(self._ask("GET", Uri(prefix.bucket, ""), question).body)
            space = root.tag.partition("}")[0] + "}" if root.tag.startswith("{") else ""
            for one in root.findall(f"{space}Contents"):
                key = unquote(one.findtext(f"{space}Key", ""))
                yield Found(Uri(prefix.bucket, key), int(one.findtext(f"{space}Size", "0")))
            token = root.findtext(f"{space}NextContinuationToken")
            if not token:
                return
            question["continuation-token"] = token

    # An object in parts

    def begin_parts(self, uri: Uri) -> str:
        """Begin an object that is written in parts, and return the upload's id."""
        answer = self._ask("POST", uri, {"uploads": ""}).body.decode()
        found = re.search("<UploadId>([^<]+)</UploadId>", answer)
        if not found:
            raise S3Failed(f"{uri} cannot be written in parts: {answer[:200]}")
        return found[1]

    def write_part(self, uri: Uri, upload: str, number: int, body: bytes) -> str:
        """Write the n-th part, counted from 1, and return its tag."""
        return self._ask("PUT", uri, {"partNumber": str(number), "uploadId": upload}, body).headers["etag"]

    def end_parts(self, uri: Uri, upload: str, tags: Mapping[int, str]) -> None:
        """Make one object of the parts, by the tag of each."""
        parts = "".join(
            f"<Part><PartNumber>{number}</PartNumber><ETag>{tags[number]}</ETag></Part>" for number in sorted(tags)
        )
        body = f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode()
        answer = self._ask("POST", uri, {"uploadId": upload}, body).body
        if b"<Error>" in answer:  # S3 says 200 before it knows
            raise S3Failed(f"{uri} cannot be put together: {answer.decode(errors='replace')[:300]}")

    def drop_parts(self, uri: Uri, upload: str) -> None:
        """Give up an object that was begun in parts."""
        self._ask("DELETE", uri, {"uploadId": upload})

    def _ask(
        self,
        method: str,
        uri: Uri,
        question: Mapping[str, str] | None = None,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Return S3's answer, after several tries. Raise NotThere or S3Failed, which knows the status if S3 refuses."""
        query = urlencode(sorted((question or {}).items()), quote_via=quote, safe="~")
        path = quote(f"/{uri.bucket}/{uri.key}" if uri.key else f"/{uri.bucket}", safe="/~")
        url = f"{self._endpoint}{path}" + (f"?{query}" if query else "")
        asked = Call("s3", self._region, method, url, dict(headers or {}), body)
        wait_s = 0.5
        problem = ""
        for left in reversed(range(_TRIES)):
            try:
                return self._send(asked)
            except _Refused as refused:
                if refused.status < 500 and refused.status not in _PASSING:
                    if refused.status == 404 and refused.code != "NoSuchBucket":
                        raise NotThere(f"{uri} is not there") from None
                    raise _Refused(refused.status, refused.code, f"{refused} ({method} {uri})") from None
                problem = str(refused)
            except (URLError, OSError, ValueError, http.client.HTTPException) as error:
                problem = str(getattr(error, "reason", None) or error) or type(error).__name__
            if left:
                time.sleep(random.uniform(0, wait_s))
                wait_s = min(2 * wait_s, 20.0)
        raise S3Failed(" ".join(f"{uri}: {problem}".split()))

    def _send(self, asked: Call) -> Answer:
        data = asked.body if asked.method in ("PUT", "POST") else None
        request = Request(asked.url, data, signed(asked, self._keyring.take()), method=asked.method)
        if data is not None:
            request.add_unredirected_header("Content-type", "application/octet-stream")
        try:
            with urlopen(request, timeout=_TIMEOUT_S) as answer:
                return Answer({name.lower(): value for name, value in answer.headers.items()}, bytes(answer.read()))
        except HTTPError as error:
            text = error.read().decode(errors="replace")
            code, words = (re.search(f"<{name}>([^<]*)</{name}>", text) for name in ("Code", "Message"))
            name = code[1] if code else f"HTTP {error.code}"
            raise _Refused(error.code, name, f"{name}: {words[1] if words else error.reason}") from None
