"""AWS as moto plays it inside this process: no server, no network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from moto import mock_aws

from orchestrator.aws.s3 import S3
from orchestrator.aws.session import Clients

if TYPE_CHECKING:
    from collections.abc import Iterator

REGION = "us-west-2"
BUCKET = "control"


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clients]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    with mock_aws(config={"batch": {"use_docker": False}}):
        yield Clients()


@pytest.fixture
def s3(clients: Clients) -> S3:
    clients.client("s3", REGION).create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
    return S3(clients, REGION, BUCKET)
