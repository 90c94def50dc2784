"""`sweep catalog discover` against a whole local cloud."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.calls import Sweep


@pytest.fixture
def bucket(client: Callable[..., Any], name: str, cloud_environment: dict[str, str]) -> str:  # noqa: ARG001
    """A bucket in Ireland with one dataset of two objects."""
    where = {"LocationConstraint": "eu-west-1"}
    client("s3", "eu-west-1").create_bucket(Bucket=name, CreateBucketConfiguration=where)
    for key in ("alps/v1/a", "alps/v1/b"):
        client("s3", "eu-west-1").put_object(Bucket=name, Key=key, Body=b"x" * 1000)
    return name


def test_datasets_are_found_where_they_lie(sweep: Sweep, bucket: str) -> None:
    ended = sweep("catalog", "discover", f"s3://{bucket}/")
    header, row = ended.out.splitlines()
    assert header.split() == ["DATASET", "REGION", "S3_URI", "OBJECTS", "SIZE", "REPLICA", "WHY"]
    assert row.split()[:3] == ["alps@v1", "eu-west-1", f"s3://{bucket}/alps/v1/"]
    (replica,) = json.loads(sweep("catalog", "show", "replicas", "--json").out)
    assert replica["region"] == "eu-west-1"


def test_a_dry_run_loads_nothing(sweep: Sweep, bucket: str) -> None:
    (row,) = json.loads(sweep("catalog", "discover", f"s3://{bucket}/", "--dry-run", "--json").out)
    assert (row["replica"], row["bytes"], row["why"]) == (True, 2000, "the only one")
    assert json.loads(sweep("catalog", "show", "replicas", "--json").out) == []


def test_a_folder_that_is_no_replica_is_told(sweep: Sweep, bucket: str, client: Callable[..., Any]) -> None:
    client("s3").create_bucket(Bucket=f"{bucket}-us")
    client("s3").put_object(Bucket=f"{bucket}-us", Key="alps/v1/a", Body=b"x" * 1000)
    ended = sweep("catalog", "discover", f"s3://{bucket}/", f"s3://{bucket}-us/")
    told = f"warning: s3://{bucket}-us/alps/v1/ is left out: half copied: 1 of 2 objects are missing"
    assert (ended.code, told in ended.err) == (0, True)
    assert len(json.loads(sweep("catalog", "show", "replicas", "--json").out)) == 1
