"""The catalog is pushed into the control bucket and pulled out of it; a pointer says which snapshot is the newest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.catalog.catalog import Catalog
from orchestrator.db.database import Database
from orchestrator.errors import CatalogError, Damaged
from orchestrator.snapshots import POINTER, CatalogLoss, Snapshots
from tests.launcher.fakes import Bucket

DATA = {
    "campaigns.csv": "campaign\nalps\ncoast\n",
    "datasets.csv": "campaign,version,bytes,created_at\nalps,1,1000,2026-11-01\ncoast,1,1000,2026-11-01\n",
    "replicas.csv": """dataset,region,s3_uri,bytes
alps@1,eu-west-1,s3://data/alps/,1000
alps@1,us-east-1,s3://data/alps/,1000
coast@1,eu-west-1,s3://data/coast/,1000
""",
}
"""Two datasets, of which one lies in two Regions."""

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


class Asked(list[CatalogLoss]):
    """Every loss that somebody was asked about, and who says no to each."""

    def refuse(self, loss: CatalogLoss) -> None:
        self.append(loss)
        raise CatalogError("no")


def load(catalog: Catalog, folder: Path, **changed: str) -> Catalog:
    for name, content in DATA.items():
        (folder / name).write_text(changed.get(name.removesuffix(".csv"), content))
    catalog.load([folder / name for name in DATA])
    return catalog


def test_a_push_that_takes_datasets_away_asks_first_and_a_no_leaves_all_as_it_is(
    snapshots: Snapshots, catalog: Catalog, tmp_path: Path
) -> None:
    before = snapshots.push(load(opened(tmp_path / "theirs.db"), tmp_path), "bob")
    asked = Asked()
    with pytest.raises(CatalogError, match="no"):
        snapshots.push(catalog, "ada", asked.refuse)
    assert asked == [CatalogLoss(before, ["alps@1", "coast@1"], [])]
    assert snapshots.newest() == before
    after = snapshots.push(catalog, "ada", asked.append)
    assert snapshots.newest() == after


def test_a_push_that_takes_a_replica_away_asks_first(snapshots: Snapshots, tmp_path: Path) -> None:
    before = snapshots.push(load(opened(tmp_path / "theirs.db"), tmp_path), "bob")
    fewer = DATA["replicas.csv"].replace("alps@1,us-east-1,s3://data/alps/,1000\n", "")
    asked = Asked()
    snapshots.push(load(opened(tmp_path / "ours.db"), tmp_path, replicas=fewer), "ada", asked.append)
    assert asked == [CatalogLoss(before, [], ["alps@1 in us-east-1"])]


def test_a_push_that_adds_asks_nobody(snapshots: Snapshots, catalog: Catalog, tmp_path: Path) -> None:
    asked = Asked()
    snapshots.push(catalog, "ada", asked.refuse)
    snapshots.push(load(catalog, tmp_path), "ada", asked.refuse)
    learn(catalog, tmp_path, "sea")
    snapshots.push(catalog, "ada", asked.refuse)
    assert asked == []


def test_a_snapshot_that_cannot_be_compared_is_said_and_the_push_goes_on(
    snapshots: Snapshots, bucket: Bucket, catalog: Catalog, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = snapshots.push(load(opened(tmp_path / "theirs.db"), tmp_path), "bob")
    bucket.put_if(before.key, b"no gzip", bucket.objects[before.key].etag)
    asked = Asked()
    after = snapshots.push(catalog, "ada", asked.refuse)
    assert (asked, snapshots.newest()) == ([], after)
    assert "cannot be compared" in caplog.text
