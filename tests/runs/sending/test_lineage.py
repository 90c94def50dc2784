"""A copy leaves beside it where it came from, but only if that is certain."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.s3 import S3
from orchestrator.feeds.feeds import Feeds
from orchestrator.plan.copy import Copy, copied_uri
from orchestrator.runs.sending.copy import copy
from tests.catalog.platforms import make_catalog

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.aws.session import Clients

EU, US = "eu-west-1", "us-east-1"
FROM = "s3://team/campaigns/alps/v1/"
TO = "datasets/alps@v1/"


@pytest.fixture
def s3(clients: Clients) -> Any:
    client = clients.client("s3", EU)
    client.create_bucket(Bucket="team", CreateBucketConfiguration={"LocationConstraint": EU})
    clients.client("s3", US).create_bucket(Bucket="sweeps")
    for name in ("a", "deep/b"):
        client.put_object(Bucket="team", Key=f"campaigns/alps/v1/{name}", Body=name.encode())
    return client


def copied(clients: Clients) -> dict[str, str] | None:
    """What lies beside the copy, once it is made."""
    wanted = Copy(0, EU, US, FROM, copied_uri("alps@v1"), 0.0, 0.0)
    plan: Any = SimpleNamespace(copies=[wanted], datasets=[SimpleNamespace(name="alps@v1")])
    cloud: Any = SimpleNamespace(clients=clients, located=lambda uri, _: uri.replace("{bucket}", "sweeps"))
    copy(plan, cloud)
    target = S3(clients, US, "sweeps")
    if not target.exists("datasets/alps@v1.lineage.json"):
        return None
    found: dict[str, str] = json.loads(target.get("datasets/alps@v1.lineage.json").body)
    return found


@pytest.mark.usefixtures("s3")
def test_a_copy_says_where_it_came_from_and_discover_believes_it(clients: Clients, tmp_path: Path) -> None:
    left = copied(clients)
    assert left is not None
    assert (left["dataset"], left["source"]) == ("alps@v1", FROM)
    feeds = Feeds(make_catalog(f"sqlite:///{tmp_path}/c.db"), clients, US)
    found = feeds.discover(["s3://team/campaigns/", "s3://sweeps/datasets/"], keep=False)
    assert [(one.folder.region, one.is_replica) for one in found.findings] == [(EU, True), (US, True)]
    assert found.findings[1].folder.copied_from == (FROM, left["source_mark"])
    assert found.odd == ()


@pytest.mark.usefixtures("s3")
def test_where_something_else_lies_in_the_folder_nothing_is_left(clients: Clients) -> None:
    clients.client("s3", US).put_object(Bucket="sweeps", Key=f"{TO}c", Body=b"other")
    assert copied(clients) is None


@pytest.mark.usefixtures("s3")
def test_an_object_of_the_same_size_that_we_did_not_copy_is_no_proof(clients: Clients) -> None:
    clients.client("s3", US).put_object(Bucket="sweeps", Key=f"{TO}a", Body=b"z")
    assert copied(clients) is None


@pytest.mark.usefixtures("s3")
def test_a_copy_that_was_killed_halfway_is_proven_by_etags(clients: Clients) -> None:
    clients.client("s3", US).put_object(Bucket="sweeps", Key=f"{TO}a", Body=b"a")
    assert copied(clients) is not None


def test_a_source_that_is_written_to_meanwhile_is_no_proof(
    s3: Any, clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = S3.copy_from

    def copy_and_write(self: S3, source: S3, key: str, to: str) -> None:
        real(self, source, key, to)
        s3.put_object(Bucket="team", Key="campaigns/alps/v1/a", Body=b"A")

    monkeypatch.setattr(S3, "copy_from", copy_and_write)
    assert copied(clients) is None


def test_what_is_copied_again_says_so_anew(s3: Any, clients: Clients) -> None:
    before = copied(clients)
    s3.put_object(Bucket="team", Key="campaigns/alps/v1/c", Body=b"c")
    after = copied(clients)
    assert before is not None
    assert after is not None
    assert before["source_mark"] != after["source_mark"]
