"""Copies one object into another bucket, inside AWS: no byte of it passes through here. A large one goes in parts.

Each part that has arrived stays, should we be killed: whoever comes later goes on with the same upload.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from orchestrator.aws.errors import aws_errors
from orchestrator.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import PartTypeDef

    from orchestrator.aws.s3 import S3, Listed

PART_BYTES = 64 * 2**20
"""Bytes of a part, unless the object would have too many of them."""
MOST_PARTS = 10_000
AT_ONCE = 8
"""Parts that are under way at the same time."""


class Uploads(Protocol):
    """Remembers the uploads that have begun."""

    def find(self, key: str) -> str | None:
        """Return S3's id of the upload that has begun for a key, or None."""

    def note(self, key: str, upload: str) -> str:
        """Take note of an upload. Return the id that counts: somebody else may have begun one just before."""


@dataclass(frozen=True)
class Target:
    """The key that an object is copied to."""

    s3: S3
    key: str
    over: str | None = None
    """The etag of what lies there and may be replaced; None if nothing may lie there."""

    @property
    def condition(self) -> Any:
        """What is asked of S3, so that nobody's newer object is replaced."""
        return {"IfNoneMatch": "*"} if self.over is None else {"IfMatch": self.over}

    @property
    def client(self) -> S3Client:
        return self.s3.clients.client("s3", self.s3.region)

    def __str__(self) -> str:
        return self.s3.uri(self.key)


def copy_object(source: S3, item: Listed, target: Target, uploads: Uploads, go_on: Callable[[], bool]) -> bool:
    """Copy an object that was listed in another bucket. Return whether all of it is there.

    It is not if `go_on`, which is asked between parts, says no. Raise AlreadyExists if the source's object is not the
    one that was listed any more, or something else has come to the target.
    """
    if item.size > PART_BYTES:
        return _Parts(source, item, target).copy(uploads, go_on)
    with aws_errors(f"copy {source.uri(item.key)} to {target}", where=target.s3.region):
        target.client.copy_object(
            Bucket=target.s3.bucket,
            Key=target.key,
            CopySource=_named(source, item),
            CopySourceIfMatch=item.etag,
            **target.condition,
        )
    return True


def arrived_bytes(target: Target, upload: str) -> int:
    """Return how many bytes of an upload in parts are there; none of one that is complete, or that nobody knows."""
    try:
        with aws_errors(f"look at the parts of {target}", where=target.s3.region):
            return sum(part["Size"] for part in _arrived_parts(target, upload))
    except NotFound:
        return 0


def _arrived_parts(target: Target, upload: str) -> Iterator[PartTypeDef]:
    pages = target.client.get_paginator("list_parts").paginate(Bucket=target.s3.bucket, Key=target.key, UploadId=upload)
    for page in pages:
        yield from page.get("Parts", [])


class _Parts:
    """One large object on its way."""

    def __init__(self, source: S3, item: Listed, target: Target) -> None:
        self.source, self.item, self.target = source, item, target
        self.part_bytes = max(PART_BYTES, -(-item.size // MOST_PARTS))
        self.count = -(-item.size // self.part_bytes)
        self.named: Any = {"Bucket": target.s3.bucket, "Key": target.key}

    def copy(self, uploads: Uploads, go_on: Callable[[], bool]) -> bool:
        upload = uploads.find(self.target.key) or uploads.note(self.target.key, self._begin())
        try:
            with aws_errors(f"copy {self.source.uri(self.item.key)} to {self.target}", where=self.target.s3.region):
                return self._copy_parts(upload, go_on)
        except NotFound:
            # Another launcher has completed the upload, if the object is there.
            if self._is_there():
                return True
            raise

    def _begin(self) -> str:
        with aws_errors(f"begin to write {self.target}", where=self.target.s3.region):
            return self.target.client.create_multipart_upload(**self.named)["UploadId"]

    def _copy_parts(self, upload: str, go_on: Callable[[], bool]) -> bool:
        etags = self._arrived(upload)
        missing = [number for number in range(1, self.count + 1) if number not in etags]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for first in range(0, len(missing), AT_ONCE):
                if not go_on():
                    return False
                batch = missing[first : first + AT_ONCE]
                etags |= zip(batch, pool.map(lambda number: self._copy_part(upload, number), batch), strict=True)
        parts: Any = [{"PartNumber": number, "ETag": etags[number]} for number in sorted(etags)]
        self.target.client.complete_multipart_upload(
            **self.named, **self.target.condition, UploadId=upload, MultipartUpload={"Parts": parts}
        )
        return True

    def _arrived(self, upload: str) -> dict[int, str]:
        """Return the etags of the parts that are there, by their numbers."""
        return {part["PartNumber"]: part["ETag"] for part in _arrived_parts(self.target, upload)}

    def _copy_part(self, upload: str, number: int) -> str:
        first = (number - 1) * self.part_bytes
        last = min(first + self.part_bytes, self.item.size) - 1
        answer = self.target.client.upload_part_copy(
            **self.named,
            UploadId=upload,
            PartNumber=number,
            CopySource=_named(self.source, self.item),
            CopySourceIfMatch=self.item.etag,
            CopySourceRange=f"bytes={first}-{last}",
        )
        return answer["CopyPartResult"]["ETag"]

    def _is_there(self) -> bool:
        found = self.target.s3.list(self.target.key)
        return any(item.key == self.target.key and item.size == self.item.size for item in found)


def _named(source: S3, item: Listed) -> Any:
    return {"Bucket": source.bucket, "Key": item.key}
