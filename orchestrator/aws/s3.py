"""Objects in one bucket, and the conditional writes that exactly-once rests on."""

from __future__ import annotations

import json
import random
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from orchestrator.aws.errors import aws_code, aws_errors
from orchestrator.errors import AccessError, AlreadyExists, InvalidRequest, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from mypy_boto3_s3 import S3Client

    from orchestrator.aws.session import Clients

CONFLICTS = 5
"""Times that a write is sent, when another one is under way at the very same moment each time."""


@dataclass(frozen=True)
class Stored:
    """An object as it was read."""

    body: bytes
    etag: str
    """S3's name for this very content: a write may be made conditional on it."""
    moment: int = 0
    """The time of reading: milliseconds since the epoch, by S3's own clock, to the second."""

    def json(self) -> Any:
        """Return the JSON value that the object holds. Raise ValueError when it holds none."""
        return json.loads(self.body)


@dataclass(frozen=True)
class Written:
    """What S3 says of an object that it took."""

    etag: str
    moment: int
    """Milliseconds since the epoch, by S3's own clock, to the second."""


@dataclass(frozen=True)
class Listed:
    """An object as a listing shows it."""

    key: str
    etag: str
    size: int
    modified_at: float = 0.0
    """When it was written, in seconds since the epoch, by S3's own clock."""


class S3:
    """One bucket in its Region.

    Every method raises NotFound for a key or a bucket that is not there, AlreadyExists for a condition that does not
    hold, and otherwise what `aws_errors` makes of AWS's answer.
    """

    def __init__(self, clients: Clients, region: str, bucket: str) -> None:
        self.clients = clients
        self.region = region
        self.bucket = bucket

    def put_once(self, key: str, body: bytes) -> bool:
        """Create the object, and return True; return False when it was there already, whoever wrote it.

        An answer lost on the way makes botocore send the write again; the second one then finds the first one's
        object. So False may also mean "you, a second ago": who must know compares the contents.
        """
        try:
            self.put_if(key, body, None)
        except AlreadyExists:
            return False
        return True

    def put_if(self, key: str, body: bytes, etag: str | None) -> str:
        """Replace the object if it still has this etag, or create it if the etag is None. Return the new etag."""
        return self.write(key, body, etag).etag

    def write(self, key: str, body: bytes, etag: str | None) -> Written:
        """Do what `put_if` does, and return what S3 says of it."""
        condition = {"IfNoneMatch": "*"} if etag is None else {"IfMatch": etag}
        conflicts = 0
        while True:
            try:
                with aws_errors(f"write {self.uri(key)}", where=self.region):
                    answer = self._client.put_object(Bucket=self.bucket, Key=key, Body=body, **condition)  # type: ignore[arg-type]
                    return Written(answer["ETag"], _moment(answer["ResponseMetadata"]["HTTPHeaders"]))
            except AlreadyExists as error:
                # 409: another write was under way just then, and S3 decided nothing. 412: the condition does not hold.
                conflicts += 1
                if aws_code(error) != "ConditionalRequestConflict" or conflicts == CONFLICTS:
                    raise
                time.sleep(random.uniform(0, 0.1 * 2**conflicts))

    def delete(self, key: str) -> None:
        """Remove the object. That it is gone already is no error."""
        with aws_errors(f"remove {self.uri(key)}", where=self.region):
            self._client.delete_object(Bucket=self.bucket, Key=key)

    def get(self, key: str) -> Stored:
        """Return the object as it is now."""
        with aws_errors(f"read {self.uri(key)}", where=self.region):
            answer = self._client.get_object(Bucket=self.bucket, Key=key)
            moment = _moment(answer["ResponseMetadata"]["HTTPHeaders"])
            return Stored(answer["Body"].read(), answer["ETag"], moment)

    def download(self, key: str, path: Path) -> None:
        """Write the object to a file, a piece at a time. A download that fails leaves no file."""
        draft = path.with_name(f".{path.name}.part")
        try:
            with draft.open("wb") as file, aws_errors(f"read {self.uri(key)}", where=self.region):
                self._client.download_fileobj(self.bucket, key, file)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)

    def get_range(self, key: str, first: int, stop: int) -> bytes:
        """Return the bytes first..stop-1; fewer, or none, when the object ends before."""
        try:
            with aws_errors(f"read {self.uri(key)}", where=self.region):
                answer = self._client.get_object(Bucket=self.bucket, Key=key, Range=f"bytes={first}-{stop - 1}")
                return answer["Body"].read()
        except InvalidRequest as error:
            if aws_code(error) != "InvalidRange":
                raise
            return b""

    def check(self) -> None:
        """Raise NotFound when there is no such bucket, AccessDenied when we may not use it."""
        with aws_errors(f"look for the bucket {self.bucket}", where=self.region):
            self._client.head_bucket(Bucket=self.bucket)

    def check_region(self) -> None:
        """Raise NotFound when there is no such bucket in this Region, AccessDenied when we may not use it."""
        with aws_errors(f"look for the bucket {self.bucket}", where=self.region):
            found = self._client.head_bucket(Bucket=self.bucket).get("BucketRegion", self.region)
        if found != self.region:
            raise NotFound(f"the bucket {self.bucket} lies in {found}", where=self.region)

    def region_of(self, bucket: str) -> str:
        """Return the Region that any bucket lies in, as `region_of_bucket` does."""
        return region_of_bucket(self.clients, self.region, bucket)

    def has_any(self, prefix: str) -> bool:
        """Return whether there is an object whose key begins with this prefix."""
        with aws_errors(f"list {self.uri(prefix)}", where=self.region):
            return bool(self._client.list_objects_v2(Bucket=self.bucket, Prefix=prefix, MaxKeys=1).get("Contents"))

    def exists(self, key: str) -> bool:
        """Return whether there is an object of this key."""
        try:
            with aws_errors(f"look for {self.uri(key)}", where=self.region):
                self._client.head_object(Bucket=self.bucket, Key=key)
        except NotFound:
            return False
        return True

    def has_kms_key(self, key: str) -> bool:
        """Return whether the object is encrypted with a key of KMS: then its ETag says nothing of its content."""
        with aws_errors(f"look at {self.uri(key)}", where=self.region):
            answer = self._client.head_object(Bucket=self.bucket, Key=key)
        return answer.get("ServerSideEncryption", "").startswith("aws:kms")

    def list(self, prefix: str, after: str = "") -> Iterator[Listed]:
        """Yield every object whose key begins with this prefix and comes after `after`, in the order of their keys."""
        more: Any = {"StartAfter": after} if after else {}
        with aws_errors(f"list {self.uri(prefix)}", where=self.region):
            pages = self._client.get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=self.bucket, Prefix=prefix, **more):
                for item in page.get("Contents", []):
                    yield Listed(item["Key"], item["ETag"], item["Size"], item["LastModified"].timestamp())

    def level(self, prefix: str) -> Iterator[Listed]:
        """Yield the objects that lie directly below this prefix, and in no folder below it."""
        with aws_errors(f"list {self.uri(prefix)}", where=self.region):
            pages = self._client.get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=self.bucket, Prefix=prefix, Delimiter="/"):
                yield from (Listed(item["Key"], item["ETag"], item["Size"]) for item in page.get("Contents", []))

    def folders(self, prefix: str) -> Iterator[str]:
        """Yield the prefixes of the folders that lie directly below this one, each with its slash."""
        with aws_errors(f"list {self.uri(prefix)}", where=self.region):
            pages = self._client.get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=self.bucket, Prefix=prefix, Delimiter="/"):
                yield from (item["Prefix"] for item in page.get("CommonPrefixes", []))

    def copy_from(self, source: S3, key: str, to: str) -> None:
        """Copy another bucket's object to the key `to` of this one.

        AWS copies inside, in parts where the object is large: no byte of it passes through here.
        """
        with aws_errors(f"copy {source.uri(key)} to {self.uri(to)}", where=self.region):
            self._client.copy({"Bucket": source.bucket, "Key": key}, self.bucket, to, SourceClient=source._client)

    def elsewhere(self, region: str, bucket: str) -> S3:
        """Return another bucket, in its Region."""
        return S3(self.clients, region, bucket)

    def uri(self, key: str) -> str:
        return f"s3://{self.bucket}/{key}"

    @property
    def _client(self) -> S3Client:
        return self.clients.client("s3", self.region)


def region_of_bucket(clients: Clients, region: str, bucket: str) -> str:
    """Return the Region that a bucket lies in, as AWS says when it is asked in any other.

    AWS says so even of a bucket that we may not use. Raise NotFound when there is none, AccessDenied when AWS says
    nothing but that we may not use it.
    """
    try:
        with aws_errors(f"look for the bucket {bucket}", where=region):
            return clients.client("s3", region).head_bucket(Bucket=bucket).get("BucketRegion", region)
    except AccessError as error:
        response: dict[str, Any] = getattr(error.__cause__, "response", {})
        said = response.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("x-amz-bucket-region")
        if not said:
            raise
        return str(said)


def _moment(headers: Mapping[str, str]) -> int:
    """Return when an answer was given, by the clock of who gave it; by ours if it does not say."""
    date = headers.get("date")
    return int((parsedate_to_datetime(date).timestamp() if date else time.time()) * 1000)
