"""Buckets lie where they are used, keep what was overwritten, and encrypt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.infra.doctor import buckets
from tests.infra.doctor.account import REGION, states

if TYPE_CHECKING:
    from orchestrator.infra.doctor.subject import Subject


HERE = {"LocationConstraint": REGION}


def test_a_bucket_is_looked_for_in_its_region_with_versions_and_encryption(subject: Subject) -> None:
    s3 = subject.clients.client("s3", REGION)
    (missing,) = buckets.control(subject)
    assert (missing.state, missing.mend) == ("wrong", f"aws s3 mb s3://our-control --region {REGION}")
    s3.create_bucket(Bucket="our-control", CreateBucketConfiguration=HERE)
    found = {finding.message: finding for finding in buckets.control(subject)}
    bare = found["keeps no versions: what is overwritten is lost"]
    assert bare.state == "warning"
    assert bare.mend.startswith("aws s3api put-bucket-versioning --bucket our-control")
    s3.put_bucket_versioning(Bucket="our-control", VersioningConfiguration={"Status": "Enabled"})
    rule = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
    s3.put_bucket_encryption(Bucket="our-control", ServerSideEncryptionConfiguration={"Rules": [rule]})
    assert states(buckets.control(subject)) == {"our-control": "ok"}


def test_a_bucket_in_another_region_is_told_with_both(subject: Subject) -> None:
    subject.clients.client("s3", "us-east-1").create_bucket(Bucket="our-data-eu-west-1")
    (found,) = buckets.data(subject)
    assert found.state == "wrong"
    assert "lies in us-east-1, and is used in eu-west-1" in found.message
