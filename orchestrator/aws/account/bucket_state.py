"""A bucket as a whole: whose it is, whether it keeps versions, how it is encrypted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.aws.errors import aws_code, aws_errors
from orchestrator.errors import AccessDenied, SweepError

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients


@dataclass(frozen=True)
class BucketState:
    """A bucket as a whole."""

    is_ours: bool
    has_versions: bool
    encryption: str
    """The way in which new objects are encrypted; empty if they are not."""


def bucket_state(clients: Clients, region: str, bucket: str, account: str) -> BucketState:
    """Return how a bucket of this Region stands. Raise AccessDenied for what we may not look at."""
    s3 = clients.client("s3", region)
    with aws_errors(f"look at the bucket {bucket}", where=region):
        s3.head_bucket(Bucket=bucket)
    try:
        with aws_errors(f"ask whose the bucket {bucket} is", where=region):
            s3.head_bucket(Bucket=bucket, ExpectedBucketOwner=account)
    except AccessDenied:
        return BucketState(is_ours=False, has_versions=False, encryption="")
    with aws_errors(f"ask for the versions of {bucket}", where=region):
        has_versions = s3.get_bucket_versioning(Bucket=bucket).get("Status") == "Enabled"
    try:
        with aws_errors(f"ask how {bucket} is encrypted", where=region):
            rules = s3.get_bucket_encryption(Bucket=bucket)["ServerSideEncryptionConfiguration"]["Rules"]
    except SweepError as error:
        if aws_code(error) != "ServerSideEncryptionConfigurationNotFoundError":
            raise
        rules = []
    by_default = rules[0].get("ApplyServerSideEncryptionByDefault", {}) if rules else {}
    return BucketState(is_ours=True, has_versions=has_versions, encryption=by_default.get("SSEAlgorithm", ""))
