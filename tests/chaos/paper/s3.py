"""S3 on paper: objects in memory, with conditional writes."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import formatdate
from typing import TYPE_CHECKING, Any

from tests.chaos.paper.weather import refusal

if TYPE_CHECKING:
    from tests.chaos.paper.hub import Hub

PAGE = 1000


@dataclass(frozen=True)
class Thing:
    """An object."""

    body: bytes
    etag: str
    at: float


_REGION = re.compile(r"[a-z]{2}-[a-z]+-[0-9]")


class PaperS3:
    """All buckets: each is there as soon as it is named."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.objects: dict[tuple[str, str], Thing] = {}
        self._writes = 0

    def put_object(self, asked: dict[str, Any]) -> dict[str, Any]:
        key = asked["Bucket"], asked["Key"]
        there = self.objects.get(key)
        if "IfNoneMatch" in asked and there is not None:
            raise refusal("PreconditionFailed", "At least one of the pre-conditions did not hold", 412)
        if "IfMatch" in asked:
            if there is None:
                raise refusal("NoSuchKey", "The specified key does not exist", 404)
            if there.etag != asked["IfMatch"]:
                raise refusal("PreconditionFailed", "At least one of the pre-conditions did not hold", 412)
        self._writes += 1
        self.objects[key] = Thing(bytes(asked["Body"]), f'"{self._writes}"', self.hub.now)
        return {"ETag": self.objects[key].etag, **self._headers()}

    def get_object(self, asked: dict[str, Any]) -> dict[str, Any]:
        there = self._find(asked)
        body = there.body
        if "Range" in asked:
            first, _, last = asked["Range"].removeprefix("bytes=").partition("-")
            if int(first) >= len(body):
                raise refusal("InvalidRange", "The requested range is not satisfiable", 416)
            body = body[int(first) : int(last) + 1]
        return {"Body": io.BytesIO(body), "ETag": there.etag, **self._headers()}

    def head_object(self, asked: dict[str, Any]) -> dict[str, Any]:
        return {"ETag": self._find(asked).etag, **self._headers()}

    def head_bucket(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer that the bucket lies in the Region that its name says."""
        named = _REGION.search(asked["Bucket"])
        return {**({"BucketRegion": named[0]} if named else {}), **self._headers()}

    def delete_object(self, asked: dict[str, Any]) -> dict[str, Any]:
        self.objects.pop((asked["Bucket"], asked["Key"]), None)
        return self._headers()

    def list_objects_v2(self, asked: dict[str, Any]) -> dict[str, Any]:
        prefix, after, separator = asked.get("Prefix", ""), asked.get("StartAfter", ""), asked.get("Delimiter")
        contents, folders = [], set()
        for (bucket, key), there in sorted(self.objects.items()):
            if bucket != asked["Bucket"] or not key.startswith(prefix) or key <= after:
                continue
            rest = key.removeprefix(prefix)
            if separator and separator in rest:
                folders.add(prefix + rest.partition(separator)[0] + separator)
                continue
            modified = datetime.fromtimestamp(int(there.at), timezone.utc)
            contents.append({"Key": key, "ETag": there.etag, "Size": len(there.body), "LastModified": modified})
        page = {"Contents": contents[: asked.get("MaxKeys", PAGE)]}
        return {**page, "CommonPrefixes": [{"Prefix": folder} for folder in sorted(folders)], **self._headers()}

    def _find(self, asked: dict[str, Any]) -> Thing:
        there = self.objects.get((asked["Bucket"], asked["Key"]))
        if there is None:
            raise refusal("NoSuchKey", "The specified key does not exist", 404)
        return there

    def _headers(self) -> dict[str, Any]:
        return {"ResponseMetadata": {"HTTPHeaders": {"date": formatdate(self.hub.now, usegmt=True)}}}
