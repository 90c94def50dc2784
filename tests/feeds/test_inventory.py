"""An S3 Inventory tells what a listing would, and what it does not tell is said."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
from contextlib import suppress
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.aws.s3 import S3
from orchestrator.errors import CatalogError, Damaged, UsageError
from orchestrator.feeds.feeds import Feeds
from orchestrator.feeds.inventory import Inventory, open_inventories

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.aws.session import Clients
    from orchestrator.catalog.catalog import Catalog

US = "us-east-1"
COLUMNS = ("Bucket", "Key", "VersionId", "IsLatest", "IsDeleteMarker", "Size", "LastModifiedDate", "ETag")
AT = "s3://inventories/team/daily/"


@pytest.fixture
def bucket(clients: Clients) -> Any:
    s3 = clients.client("s3", US)
    for name in ("team", "inventories"):
        s3.create_bucket(Bucket=name)
    for key in ("campaigns/alps/v1/a b+c.bin", "campaigns/alps/v1/ä.bin", "campaigns/coast/v2/x", "other/y"):
        s3.put_object(Bucket="team", Key=key, Body=key.encode())
    return s3


def row(key: str, size: int = 3, latest: str = "true", deleted: str = "false", etag: str = "e") -> tuple[object, ...]:
    return "team", quote_plus(key), "", latest, deleted, size, "2026-11-20T01:02:03.000Z", etag


def rows_of_bucket(s3: Any) -> list[tuple[object, ...]]:
    listed = s3.list_objects_v2(Bucket="team")["Contents"]
    return [row(one["Key"], one["Size"], etag=one["ETag"].strip('"')) for one in listed]


def csv_file(rows: Sequence[Sequence[object]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows(rows)
    return gzip.compress(text.getvalue().encode())


def put(s3: Any, content: bytes, day: str = "2026-11-21T01-00Z", **manifest: Any) -> None:
    key = f"team/daily/data/{day}.csv.gz"
    s3.put_object(Bucket="inventories", Key=key, Body=content)
    files = [{"key": key, "size": len(content), "MD5checksum": hashlib.md5(content).hexdigest()}]
    usual = {"sourceBucket": "team", "fileFormat": "CSV", "fileSchema": ", ".join(COLUMNS), "files": files}
    body = {**usual, "creationTimestamp": "1795222800000", **manifest}
    s3.put_object(Bucket="inventories", Key=f"team/daily/{day}/manifest.json", Body=json.dumps(body).encode())


def opened(clients: Clients, at: str = AT) -> Inventory:
    return open_inventories(clients, US, [at])["team"]


def test_an_inventory_tells_what_a_listing_tells(bucket: Any, clients: Clients) -> None:
    put(bucket, csv_file(rows_of_bucket(bucket)))
    listed = {(item.key, item.size, item.etag) for item in S3(clients, US, "team").list("campaigns/")}
    assert {(item.key, item.size, item.etag) for item in opened(clients).list("campaigns/")} == listed


def test_datasets_are_discovered_by_it_and_marked_alike(bucket: Any, clients: Clients, empty: Catalog) -> None:
    put(bucket, csv_file(rows_of_bucket(bucket)))
    feeds, places = Feeds(empty, clients, US), ["s3://team/campaigns/"]
    found = feeds.discover(places, inventories=[AT])
    assert found.inventories == (("team", datetime(2026, 11, 21, 1, tzinfo=timezone.utc)),)
    assert [row["dataset"] for row in empty.show("replicas")] == ["alps@v1", "coast@v2"]
    assert feeds.discover(places).changed == frozenset()


def test_the_bucket_is_not_listed(bucket: Any, clients: Clients, empty: Catalog) -> None:
    put(bucket, csv_file([row("campaigns/tokyo/v1/z")]))
    found = Feeds(empty, clients, US).discover(["s3://team/campaigns/"], inventories=[AT], keep=False)
    assert [one.folder.campaign for one in found.findings] == ["tokyo"]


def test_old_versions_and_deleted_objects_are_not_there(bucket: Any, clients: Clients) -> None:
    rows = [row("a", latest="false"), row("b", deleted="true"), row("c"), row("d", latest="", deleted="")]
    put(bucket, csv_file(rows))
    assert [item.key for item in opened(clients).list("")] == ["c", "d"]


def test_the_newest_whole_inventory_counts(bucket: Any, clients: Clients) -> None:
    put(bucket, csv_file([row("old")]), "2026-11-20T01-00Z")
    put(bucket, csv_file([row("new")]))
    bucket.put_object(Bucket="inventories", Key="team/daily/2026-11-22T01-00Z/manifest.checksum", Body=b"not yet")
    bucket.put_object(Bucket="inventories", Key="team/daily/hive/dt=2026-11-22-01-00/symlink.txt", Body=b"s3://")
    assert [item.key for item in opened(clients).list("")] == ["new"]
    of_then = opened(clients, "s3://inventories/team/daily/2026-11-20T01-00Z/manifest.json")
    assert [item.key for item in of_then.list("")] == ["old"]


def test_an_inventory_that_tells_too_little_says_what_to_add(bucket: Any, clients: Clients) -> None:
    put(bucket, csv_file([]), fileSchema="Bucket, Key, Size")
    with pytest.raises(
        CatalogError, match=r"does not tell ETag, LastModifiedDate \(add Size, LastModifiedDate and ETag"
    ):
        opened(clients)


def test_orc_is_refused_in_words(bucket: Any, clients: Clients) -> None:
    put(bucket, b"", fileFormat="ORC")
    with pytest.raises(CatalogError, match=r"an inventory in ORC is not read \(let AWS write CSV or Parquet\)"):
        opened(clients)


@pytest.mark.usefixtures("bucket")
def test_where_there_is_none_the_folder_to_name_is_told(clients: Clients) -> None:
    with pytest.raises(CatalogError, match=r"s3://inventories/team/daily/: no inventory lies there"):
        opened(clients)
    with pytest.raises(UsageError, match="--inventory: 'daily' is not an S3 URI"):
        opened(clients, "daily")


def test_a_file_that_was_cut_off_is_refused_with_its_address(bucket: Any, clients: Clients) -> None:
    whole = csv_file([row(f"key-{number}") for number in range(1000)])
    put(bucket, whole)
    bucket.put_object(Bucket="inventories", Key="team/daily/data/2026-11-21T01-00Z.csv.gz", Body=whole[:-20])
    with pytest.raises(
        Damaged, match=r"s3://inventories/team/daily/data/.*: it is not what the manifest says: another MD5"
    ):
        list(opened(clients).list(""))


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"fileFormat": "CSV"}', '{"fileFormat": "CSV", "fileSchema": 7}'])
def test_a_manifest_that_is_none_is_refused(bucket: Any, clients: Clients, body: str) -> None:
    bucket.put_object(Bucket="inventories", Key="team/daily/2026-11-21T01-00Z/manifest.json", Body=body.encode())
    with pytest.raises((CatalogError, Damaged), match=r"s3://inventories/team/daily/2026-11-21T01-00Z/manifest\.json"):
        opened(clients)


class Store:
    """Holds one file."""

    def __init__(self, content: bytes) -> None:
        self.body = content

    def get(self, _: str) -> Store:
        return self

    def uri(self, key: str) -> str:
        return f"s3://inventories/{key}"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=200) | st.text(max_size=200).map(lambda text: gzip.compress(text.encode())))
def test_a_file_of_any_content_is_read_or_refused(content: bytes) -> None:
    moment = datetime(2026, 11, 21, tzinfo=timezone.utc)
    for kind in ("CSV", "Parquet"):
        store: Any = Store(content)
        with suppress(Damaged):
            list(Inventory("team", moment, kind, COLUMNS, (("file", ""),), store).list(""))


def test_parquet_tells_the_same(bucket: Any, clients: Clients) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    moment = datetime(2026, 11, 20, 1, 2, 3, tzinfo=timezone.utc)
    table = pyarrow.table(
        {
            "bucket": ["team", "team"],
            "key": ["campaigns/ä b", "gone"],
            "is_latest": [True, False],
            "is_delete_marker": [False, False],
            "size": [3, 4],
            "last_modified_date": pyarrow.array([moment, moment], pyarrow.timestamp("ms", "UTC")),
            "e_tag": ["e", "f"],
        }
    )
    written = io.BytesIO()
    parquet.write_table(table, written)
    schema = (
        "message s3.inventory { required binary bucket (UTF8); required binary key (UTF8); optional int64 size;"
        " optional int64 last_modified_date (TIMESTAMP(MILLIS,true)); optional binary e_tag (UTF8); }"
    )
    put(bucket, written.getvalue(), fileFormat="Parquet", fileSchema=schema)
    (item,) = opened(clients).list("")
    assert (item.key, item.size, item.etag, item.modified_at) == ("campaigns/ä b", 3, '"e"', moment.timestamp())
