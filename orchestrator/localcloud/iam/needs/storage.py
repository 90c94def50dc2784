"""S3's permissions: several operations go by an action of another name.

https://docs.aws.amazon.com/AmazonS3/latest/userguide/using-with-s3-policy-actions.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote
from xml.etree import ElementTree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.localcloud.iam.evaluation import Asked
    from orchestrator.localcloud.iam.needs.scene import Scene

_ACTIONS = {
    "HeadBucket": "ListBucket",
    "ListObjects": "ListBucket",
    "ListObjectsV2": "ListBucket",
    "ListObjectVersions": "ListBucketVersions",
    "ListMultipartUploads": "ListBucketMultipartUploads",
    "ListBuckets": "ListAllMyBuckets",
    "GetBucketEncryption": "GetEncryptionConfiguration",
    "PutBucketEncryption": "PutEncryptionConfiguration",
    "DeleteBucketEncryption": "PutEncryptionConfiguration",
    "GetBucketLifecycleConfiguration": "GetLifecycleConfiguration",
    "PutBucketLifecycleConfiguration": "PutLifecycleConfiguration",
    "DeleteBucketLifecycle": "PutLifecycleConfiguration",
    "GetPublicAccessBlock": "GetBucketPublicAccessBlock",
    "PutPublicAccessBlock": "PutBucketPublicAccessBlock",
    "HeadObject": "GetObject",
    "GetObjectAttributes": "GetObject",
    "CreateMultipartUpload": "PutObject",
    "UploadPart": "PutObject",
    "CompleteMultipartUpload": "PutObject",
    "CopyObject": "PutObject",
    "UploadPartCopy": "PutObject",
    "ListParts": "ListMultipartUploadParts",
}
"""The actions that are not called as their operations are."""
_OF_VERSIONS = {"GetObject": "GetObjectVersion", "DeleteObject": "DeleteObjectVersion"}
"""The actions that another takes the place of, where a request names a version."""


def needs(scene: Scene) -> Iterator[Asked]:
    """Yield the permissions that a call to S3 takes."""
    call = scene.call
    query = {key: values[0] for key, values in parse_qs(call.environ.get("QUERY_STRING", "")).items()}
    bucket, _, key = call.environ["PATH_INFO"].lstrip("/").partition("/")
    action = _ACTIONS.get(call.operation, call.operation)
    if not bucket:
        yield scene.ask(f"s3:{action}")
        return
    if call.operation == "DeleteObjects":
        for name in _named(call.body):
            yield scene.ask("s3:DeleteObject", _arn(bucket, name))
        return
    if not key:
        listed = {f"s3:{name}": (query[name],) for name in ("prefix", "delimiter", "max-keys") if name in query}
        yield scene.ask(f"s3:{action}", _arn(bucket), **(listed if action == "ListBucket" else {}))
        return
    if "versionId" in query:
        action = _OF_VERSIONS.get(action, action)
    yield scene.ask(f"s3:{action}", _arn(bucket, key))
    yield from _further(scene, bucket, key)


def _further(scene: Scene, bucket: str, key: str) -> Iterator[Asked]:
    """Yield what a call takes beside its own action."""
    call = scene.call
    if source := call.environ.get("HTTP_X_AMZ_COPY_SOURCE"):
        from_bucket, _, from_key = unquote(source).lstrip("/").partition("?")[0].partition("/")
        yield scene.ask("s3:GetObject", _arn(from_bucket, from_key))
    if call.operation == "PutObject" and "HTTP_IF_MATCH" in call.environ:  # who compares, reads
        yield scene.ask("s3:GetObject", _arn(bucket, key))
    if call.operation in ("GetObject", "HeadObject") and not scene.has_object(bucket, key):
        # Who may not list a bucket is not told what it lacks.
        yield scene.ask("s3:ListBucket", _arn(bucket))


def _named(body: bytes) -> list[str]:
    """Return the keys that a request of DeleteObjects names."""
    found = ElementTree.fromstring(body)
    return [each.text or "" for each in found.iter() if each.tag.rpartition("}")[2] == "Key"]


def _arn(bucket: str, key: str = "") -> str:
    return f"arn:aws:s3:::{bucket}/{key}" if key else f"arn:aws:s3:::{bucket}"
