"""The catalog is pushed into the control bucket and pulled out of it; a pointer says which snapshot is the newest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.catalog.catalog import Catalog
from orchestrator.db.database import Database
from orchestrator.errors import CatalogError, Damaged
from orchestrator.snapshots import POINTER, Snapshots
from tests.launcher.fakes import Bucket

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def bucket() -> Bucket:
    return Bucket()


@pytest.fixture
def snapshots(bucket: Bucket) -> Snapshots:
    return Snapshots(bucket)  # type: ignore[arg-type]


def opened(file: Path) -> Catalog:
    return Catalog(Database(f"sqlite:///{file}"), {})


def learn(catalog: Catalog, folder: Path, *campaigns: str) -> None:
    file = folder / "campaigns.csv"
    file.write_text("\n".join(("campaign", *campaigns)) + "\n")
    catalog.load([file])


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    made = opened(tmp_path / "sweep.db")
    learn(made, tmp_path, "alps")
    return made


def test_what_is_pushed_is_pulled(snapshots: Snapshots, catalog: Catalog, tmp_path: Path) -> None:
    pushed = snapshots.push(catalog, "ada")
    assert pushed.owner == "ada"
    assert snapshots.pull(tmp_path / "copy.db") == pushed
    assert opened(tmp_path / "copy.db").show("campaigns") == catalog.show("campaigns")
    assert not list(tmp_path.glob(".*"))


def test_the_pointer_moves_and_what_it_named_stays(
    snapshots: Snapshots, bucket: Bucket, catalog: Catalog, tmp_path: Path
) -> None:
    first = snapshots.push(catalog, "ada")
    learn(catalog, tmp_path, "coast")
    second = snapshots.push(catalog, "bob")
    assert (second.previous, snapshots.newest()) == (first.snapshot, second)
    assert set(bucket.objects) == {POINTER, first.key, second.key}


def test_an_unchanged_catalog_moves_nothing(snapshots: Snapshots, bucket: Bucket, catalog: Catalog) -> None:
    first = snapshots.push(catalog, "ada")
    writes = bucket.writes
    assert snapshots.push(catalog, "bob") == first
    assert bucket.writes == writes


def test_of_two_pushes_at_once_one_is_refused_and_the_other_stays(
    snapshots: Snapshots, bucket: Bucket, catalog: Catalog, tmp_path: Path
) -> None:
    other = opened(tmp_path / "other.db")
    learn(other, tmp_path, "sea")
    puts = 0

    def meanwhile(what: str) -> None:
        nonlocal puts
        puts += what == "put"
        if puts == 2 and what == "put":  # the first one wrote the snapshot, this one is to move the pointer
            puts += 1
            snapshots.push(other, "bob")

    bucket.before = meanwhile
    with pytest.raises(CatalogError, match="another catalog was pushed meanwhile") as refused:
        snapshots.push(catalog, "ada")
    assert "sweep catalog pull" in refused.value.hint
    newest = snapshots.newest()
    assert newest
    assert newest.owner == "bob"


def test_nothing_pushed_is_told(snapshots: Snapshots, tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="no catalog was pushed yet"):
        snapshots.pull(tmp_path / "copy.db")


@pytest.mark.parametrize("body", [b"no gzip", b""])
def test_a_damaged_snapshot_leaves_no_file(
    snapshots: Snapshots, bucket: Bucket, catalog: Catalog, tmp_path: Path, body: bytes
) -> None:
    key = snapshots.push(catalog, "ada").key
    bucket.put_if(key, body, bucket.objects[key].etag)
    with pytest.raises(Damaged, match=r"snapshots/\w+\.db\.gz|what its name says") as told:
        snapshots.pull(tmp_path / "copy.db")
    assert told.value.where.endswith(key)
    assert not (tmp_path / "copy.db").exists()


def test_a_damaged_pointer_is_named(snapshots: Snapshots, bucket: Bucket) -> None:
    bucket.put_once(POINTER, b'{"snapshot": 3}')
    with pytest.raises(Damaged) as told:
        snapshots.newest()
    assert told.value.where == f"s3://control/{POINTER}"


def test_a_damaged_pointer_is_told_with_the_way_out_and_the_next_push_writes_it_anew(
    snapshots: Snapshots, bucket: Bucket, catalog: Catalog, tmp_path: Path
) -> None:
    pushed = snapshots.push(catalog, "ada")
    bucket.delete(POINTER)
    bucket.put_once(POINTER, b"[]")
    with pytest.raises(Damaged) as told:
        snapshots.pull(tmp_path / "pulled.db")
    assert "`sweep catalog push`" in told.value.hint
    assert snapshots.push(catalog, "ada").snapshot == pushed.snapshot
    assert snapshots.pull(tmp_path / "pulled.db").snapshot == pushed.snapshot
