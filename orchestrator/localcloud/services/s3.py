"""S3's rule that only a bucket's own Region answers for it. moto alone would answer anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.localcloud.http.answers import AwsError

if TYPE_CHECKING:
    from orchestrator.localcloud.services.moto.backends import Objects

_ANYWHERE = ("CreateBucket", "GetBucketLocation", "ListBuckets")


def tell_region(objects: Objects, path: str) -> dict[str, str]:
    """Return the header that says where a bucket lies: S3 tells it even to those who may not use the bucket."""
    where = objects.region(path.lstrip("/").partition("/")[0])
    return {"x-amz-bucket-region": where} if where else {}


def check_region(objects: Objects, path: str, operation: str, region: str) -> None:
    """Raise S3's redirect when a request is for another Region's bucket. SDKs follow it: that costs a second call."""
    bucket = path.lstrip("/").partition("/")[0]
    where = objects.region(bucket) if bucket and operation not in _ANYWHERE else None
    if where in (None, region):
        return
    raise AwsError(
        "PermanentRedirect",
        "The bucket you are attempting to access must be addressed using the specified endpoint. Please send all "
        "future requests to this endpoint.",
        301,
        details={"Endpoint": f"{bucket}.s3.{where}.amazonaws.com", "Bucket": bucket},
        headers={"x-amz-bucket-region": str(where)},
    )
