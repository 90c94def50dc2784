"""Do the buckets lie where they should, and keep what was overwritten?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.aws.account.bucket_state import bucket_state
from orchestrator.aws.s3 import region_of_bucket
from orchestrator.errors import NotFound
from orchestrator.platforms.account.finding import DEPLOY, Finding, ok, warning, wrong

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.infra.doctor.subject import Subject


def control(subject: Subject) -> Iterator[Finding]:
    """Yield how the control bucket stands: what is overwritten there can be had back only if it has versions."""
    names = subject.names
    yield from _bucket(subject, names.bucket, names.region, "bucket", has_versions=True)


def data(subject: Subject) -> Iterator[Finding]:
    """Yield how the bucket of each Region that is trained in stands."""
    for region in subject.names.regions:
        yield from _bucket(subject, subject.names.bucket_of(region), region, "region_bucket", has_versions=False)


def _bucket(subject: Subject, bucket: str, region: str, setting: str, *, has_versions: bool) -> Iterator[Finding]:
    try:
        where = region_of_bucket(subject.clients, region, bucket)
    except NotFound:
        theirs = setting in subject.names.theirs
        mend = f"aws s3 mb s3://{bucket} --region {region}" if theirs else DEPLOY
        yield wrong("bucket", bucket, f"not there; it belongs in {region}", mend)
        return
    if where != region:
        mend = f"aws s3 mb s3://NAME --region {region}"
        yield wrong("bucket", bucket, f"lies in {where}, and is used in {region}: name another as `{setting}`", mend)
        return
    found = bucket_state(subject.clients, region, bucket, subject.names.account)
    if not found.is_ours:
        yield wrong("bucket", bucket, "belongs to another account: name another", DEPLOY, 4)
        return
    if has_versions and not found.has_versions:
        versions = f"aws s3api put-bucket-versioning --bucket {bucket} --versioning-configuration Status=Enabled"
        yield warning("bucket", bucket, "keeps no versions: what is overwritten is lost", versions)
    if not found.encryption:
        rule = '{"Rules":[{"ApplyServerSideEncryptionByDefault":{"SSEAlgorithm":"AES256"}}]}'
        mend = f"aws s3api put-bucket-encryption --bucket {bucket} --server-side-encryption-configuration '{rule}'"
        yield warning("bucket", bucket, "is not encrypted by default", mend)
    if found.encryption and (found.has_versions or not has_versions):
        yield ok("bucket", bucket, f"in {region}, encrypted ({found.encryption})")
