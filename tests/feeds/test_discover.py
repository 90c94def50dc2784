"""Datasets are found in S3 by a pattern, and a folder is a replica only where that can be known."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.s3 import Listed
from orchestrator.errors import CatalogError, NotFound, UsageError
from orchestrator.feeds.discover import compare_folders
from orchestrator.feeds.feeds import Feeds
from orchestrator.feeds.look import Folder
from orchestrator.feeds.pattern import Pattern
from orchestrator.wire.beside.lineage import Lineage

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients
    from orchestrator.catalog.catalog import Catalog

EU, US = "eu-west-1", "us-east-1"


def folder(region: str, etags: dict[str, str], sizes: dict[str, int] | None = None) -> Folder:
    objects = {name: Listed(f"alps/v1/{name}", etag, (sizes or {}).get(name, 10), 1.0) for name, etag in etags.items()}
    return Folder("alps", "v1", f"team-{region}", region, "alps/v1/", objects)


def told(*folders: Folder, encrypted: bool = False) -> list[tuple[str, bool, str]]:
    found = compare_folders(folders, lambda _: encrypted)
    return [(one.folder.region, one.is_replica, one.why) for one in found]


def test_equal_keys_sizes_and_etags_are_one_dataset() -> None:
    both = {"a": "1", "b": "2"}
    assert told(folder(EU, both), folder(US, both)) == [
        (EU, True, "the original"),
        (US, True, "the same keys, sizes and ETags"),
    ]


def test_a_half_copied_folder_is_no_replica_whichever_is_named_first() -> None:
    whole, half = folder(EU, {"a": "1", "b": "2"}), folder(US, {"a": "1"})
    lacking = (US, False, "half copied: 1 of 2 objects are missing")
    assert lacking in told(whole, half)
    assert lacking in told(half, whole)


def test_another_size_is_other_data() -> None:
    one, other = folder(EU, {"a": "1"}), folder(US, {"a": "1"}, {"a": 11})
    assert told(one, other)[1] == (US, False, "other data: a has another size")


def test_another_etag_is_other_data_where_etags_tell_contents() -> None:
    one, other = folder(EU, {"a": "1", "b": "2"}), folder(US, {"a": "1", "b": "3"})
    assert told(one, other)[1] == (US, False, "other data: b has another ETag")


def test_etags_of_parts_or_of_kms_tell_nothing() -> None:
    cannot = (US, True, "the same keys and sizes; their ETags cannot be compared")
    assert told(folder(EU, {"a": "1-2"}), folder(US, {"a": "9-3"}))[1] == cannot
    assert told(folder(EU, {"a": "1"}), folder(US, {"a": "9"}), encrypted=True)[1] == cannot


def test_folders_that_each_lack_something_are_no_replicas() -> None:
    assert [is_replica for _, is_replica, _ in told(folder(EU, {"a": "1"}), folder(US, {"b": "1"}))] == [False, False]


def copied(source: Folder, etags: dict[str, str], region: str = US) -> Folder:
    """A copy with other ETags, as those of parts are, and what our copy has left beside it."""
    made = folder(region, etags)
    return replace(made, lineage=Lineage("alps@v1", source.uri, source.mark, made.mark))


BY_LINEAGE = "the same by lineage: one was copied from the other, and nothing was written since"
WRITTEN_SINCE = "other data: something was written since one was copied from the other"


def test_a_copy_of_ours_is_the_same_by_lineage_whichever_is_named_first() -> None:
    source = folder(EU, {"a": "1-2"})
    copy = copied(source, {"a": "9-3"})
    assert told(source, copy) == [(EU, True, "the original"), (US, True, BY_LINEAGE)]
    assert told(copy, source) == [(US, True, f"a copy of {source.uri}"), (EU, True, BY_LINEAGE)]


def test_two_copies_of_one_folder_are_the_same_by_lineage() -> None:
    source = folder(EU, {"a": "1-2"})
    both = copied(source, {"a": "9-3"}), copied(source, {"a": "7-3"}, "eu-north-1")
    assert told(*both)[1] == ("eu-north-1", True, BY_LINEAGE)


def test_what_was_written_since_it_was_copied_is_other_data() -> None:
    source, now = folder(EU, {"a": "1-2"}), folder(EU, {"a": "5-2"})
    copy = copied(source, {"a": "9-3"})
    assert told(now, copy)[1] == (US, False, WRITTEN_SINCE)
    assert told(source, replace(folder(US, {"a": "8-3"}), lineage=copy.lineage))[1] == (US, False, WRITTEN_SINCE)


def test_a_lineage_of_another_folder_proves_nothing() -> None:
    elsewhere = replace(folder(EU, {"a": "1-2"}), bucket="others")
    copy = copied(elsewhere, {"a": "9-3"})
    cannot = "the same keys and sizes; their ETags cannot be compared"
    assert told(folder(EU, {"a": "1-2"}), copy)[1] == (US, True, cannot)


@pytest.mark.parametrize("body", ["", "[]", '{"version": 99}', '{"dataset": "alps"}', '{"version": 1, "dataset": 7}'])
def test_a_lineage_that_cannot_be_read_is_no_proof_and_no_object_of_a_dataset(
    feeds: Feeds, clients: Clients, body: str
) -> None:
    put(clients, US, "campaigns/alps/v1.lineage.json", body)
    found = feeds.discover(PLACES)
    assert [(one.folder.region, one.why) for one in found.findings][1] == (US, "the same keys, sizes and ETags")
    assert found.odd == ("s3://team-eu-west-1/campaigns/readme.txt",)


def test_a_region_has_one_replica() -> None:
    assert told(folder(EU, {"a": "1"}), folder(EU, {"a": "1"}))[1] == (EU, False, "a second one in eu-west-1")


@pytest.mark.parametrize(
    ("pattern", "key", "found"),
    [
        ("{campaign}/{version}/", "alps/v1/x/y.bin", ("alps", "v1", "alps/v1/")),
        ("{campaign}/{version}", "alps/v1/y.bin", ("alps", "v1", "alps/v1/")),
        ("by-{version}/c_{campaign}/", "by-2/c_alps/y", ("alps", "2", "by-2/c_alps/")),
        ("{campaign}/{version}/", "alps/readme.txt", None),
        ("data.v/{campaign}/{version}/", "dataxv/alps/v1/y", None),
    ],
)
def test_a_pattern_tells_the_dataset_of_a_key(pattern: str, key: str, found: Any) -> None:
    assert Pattern.parse(pattern).dataset_of(key) == found


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("{campaign}/", "needs {version} once"),
        ("{campaign}/{version}/{version}/", "needs {version} once"),
        ("{campaign}/{version}/{day}/", "may not contain {day}"),
        ("{campaign/", "cannot be read"),
        ("{campaign}{version}/", "has two places beside each other"),
    ],
)
def test_a_pattern_that_cannot_be_meant_is_refused(pattern: str, said: str) -> None:
    with pytest.raises(UsageError, match="--pattern: ") as caught:
        Pattern.parse(pattern)
    assert said in str(caught.value)


@pytest.fixture
def feeds(empty: Catalog, clients: Clients) -> Feeds:
    """Two buckets: two datasets in Europe, one of them in America as well, and half of the other."""
    for region in (EU, US):
        where: Any = {} if region == US else {"CreateBucketConfiguration": {"LocationConstraint": region}}
        clients.client("s3", region).create_bucket(Bucket=f"team-{region}", **where)
    for region, names in {
        EU: ("alps/v1/a", "alps/v1/b", "coast/v2/a", "coast/v2/b"),
        US: ("alps/v1/a", "alps/v1/b", "coast/v2/a"),
    }.items():
        for name in names:
            put(clients, region, f"campaigns/{name}", name)
    put(clients, EU, "campaigns/readme.txt", "hello")
    put(clients, EU, "campaigns/alps/v1/", "")
    return Feeds(empty, clients, US)


def put(clients: Clients, region: str, key: str, body: str) -> None:
    clients.client("s3", region).put_object(Bucket=f"team-{region}", Key=key, Body=body.encode())


PLACES = ["s3://team-eu-west-1/campaigns", "s3://team-us-east-1/campaigns/"]


def test_what_is_found_is_in_the_catalog(feeds: Feeds, empty: Catalog) -> None:
    found = feeds.discover(PLACES)
    assert [one.is_replica for one in found.findings] == [True, True, True, False]
    assert [(row["dataset"], row["bytes"]) for row in empty.show("datasets")] == [("alps@v1", 18), ("coast@v2", 20)]
    assert [(row["dataset"], row["region"], row["objects"]) for row in empty.show("replicas")] == [
        ("alps@v1", EU, 2),
        ("alps@v1", US, 2),
        ("coast@v2", EU, 2),
    ]


def test_a_second_time_nothing_has_changed(feeds: Feeds, empty: Catalog) -> None:
    feeds.discover(PLACES)
    before = [empty.show(kind) for kind in ("campaigns", "datasets", "replicas")]
    assert feeds.discover(PLACES).changed == frozenset()
    assert [empty.show(kind) for kind in ("campaigns", "datasets", "replicas")] == before


def test_an_object_that_is_written_anew_changes_its_replica(feeds: Feeds, clients: Clients) -> None:
    feeds.discover(PLACES)
    put(clients, EU, "campaigns/coast/v2/b", "coast/v2/B")
    assert feeds.discover(PLACES).changed == {"s3://team-eu-west-1/campaigns/coast/v2/"}


ALPS_US = "s3://team-us-east-1/campaigns/alps/v1/"


def regions_of(catalog: Catalog, dataset: str) -> list[str]:
    return [row["region"] for row in catalog.show("replicas") if row["dataset"] == dataset]


def test_a_replica_that_is_not_whole_any_more_leaves_the_catalog(
    feeds: Feeds, clients: Clients, empty: Catalog
) -> None:
    feeds.discover(PLACES)
    clients.client("s3", US).delete_object(Bucket="team-us-east-1", Key="campaigns/alps/v1/a")
    assert feeds.discover(PLACES, keep=False).removed == (ALPS_US,)
    assert regions_of(empty, "alps@v1") == [EU, US]
    assert feeds.discover(PLACES).removed == (ALPS_US,)
    assert regions_of(empty, "alps@v1") == [EU]


def test_a_replica_with_other_data_leaves_the_catalog(feeds: Feeds, clients: Clients, empty: Catalog) -> None:
    feeds.discover(PLACES)
    put(clients, EU, "campaigns/alps/v1/a", "ALPS/V1/A")
    assert feeds.discover(PLACES).removed == (ALPS_US,)
    assert regions_of(empty, "alps@v1") == [EU]


def test_a_replica_of_which_nothing_is_left_leaves_the_catalog(feeds: Feeds, clients: Clients, empty: Catalog) -> None:
    feeds.discover(PLACES)
    for name in ("a", "b"):
        clients.client("s3", US).delete_object(Bucket="team-us-east-1", Key=f"campaigns/alps/v1/{name}")
    assert feeds.discover(PLACES).removed == (ALPS_US,)
    assert regions_of(empty, "alps@v1") == [EU]


def test_replicas_that_another_pattern_found_stay(feeds: Feeds, clients: Clients, empty: Catalog) -> None:
    feeds.discover(PLACES)
    put(clients, EU, "others/tokyo/v1/a", "x")
    assert feeds.discover(["s3://team-eu-west-1"], "others/{campaign}/{version}/").removed == ()
    assert regions_of(empty, "alps@v1") == [EU, US]


def test_other_replicas_of_what_has_changed_are_named_if_nobody_looked_at_them(feeds: Feeds, clients: Clients) -> None:
    feeds.discover(PLACES)
    put(clients, EU, "campaigns/alps/v1/a", "ALPS/V1/A")
    assert feeds.discover(PLACES[:1]).unseen == (ALPS_US,)


COAST_US = "s3://team-us-east-1/campaigns/coast/v2/"
COAST_EU = "the replica in eu-west-1 that the catalog knows, s3://team-eu-west-1/campaigns/coast/v2/"


def why(found: Any, uri: str) -> tuple[bool, str]:
    return next((one.is_replica, one.why) for one in found.findings if one.folder.uri == uri)


@pytest.mark.parametrize(
    ("body", "difference"),
    [
        (None, "objects: 1, not 2"),
        ("longer than it was", "bytes: 28, not 20"),
        ("coast/v2/B", "other keys, sizes or ETags"),
    ],
    ids=["half copied", "another size", "other bytes"],
)
def test_a_folder_that_is_looked_at_alone_is_compared_with_what_the_catalog_knows_elsewhere(
    feeds: Feeds, empty: Catalog, clients: Clients, body: str | None, difference: str
) -> None:
    if body is not None:
        put(clients, US, "campaigns/coast/v2/b", body)
    feeds.discover(PLACES)
    found = feeds.discover(PLACES[1:])
    said = f"not {COAST_EU}: {difference}; discover both at once to have them compared"
    assert why(found, COAST_US) == (False, said)
    assert regions_of(empty, "coast@v2") == [EU]
    assert [row["bytes"] for row in empty.show("datasets") if row["dataset"] == "coast@v2"] == [20]


def test_a_whole_copy_that_is_looked_at_alone_is_taken_as_the_same(
    feeds: Feeds, empty: Catalog, clients: Clients
) -> None:
    feeds.discover(PLACES[:1])
    put(clients, US, "campaigns/coast/v2/b", "coast/v2/b")
    assert why(feeds.discover(PLACES[1:]), COAST_US) == (True, f"the same as {COAST_EU}")
    assert regions_of(empty, "coast@v2") == [EU, US]
    assert [problem for problem in empty.check() if problem.kind == "replicas"] == []


def test_a_replica_that_has_lost_objects_leaves_the_catalog_though_it_is_looked_at_alone(
    feeds: Feeds, clients: Clients, empty: Catalog
) -> None:
    feeds.discover(PLACES)
    clients.client("s3", US).delete_object(Bucket="team-us-east-1", Key="campaigns/alps/v1/a")
    assert feeds.discover(PLACES[1:]).removed == (ALPS_US,)
    assert regions_of(empty, "alps@v1") == [EU]


def test_a_replica_that_has_grown_keeps_the_size_of_the_others(feeds: Feeds, clients: Clients, empty: Catalog) -> None:
    feeds.discover(PLACES)
    put(clients, EU, "campaigns/alps/v1/c", "more")
    assert feeds.discover(PLACES[:1]).unseen == (ALPS_US,)
    assert [row["bytes"] for row in empty.show("datasets") if row["dataset"] == "alps@v1"] == [18]
    (unlike,) = [problem.message for problem in empty.check() if problem.kind == "replicas"]
    assert unlike.startswith("1 dataset with replicas of unlike objects or bytes: alps@v1; ")
    feeds.discover(PLACES)
    assert [row["bytes"] for row in empty.show("datasets") if row["dataset"] == "alps@v1"] == [22]
    assert [problem for problem in empty.check() if problem.kind == "replicas"] == []


def test_what_a_file_says_of_a_replica_is_compared_with_a_new_folder(
    feeds: Feeds, empty: Catalog, tmp_path: Any
) -> None:
    (tmp_path / "campaigns.csv").write_text("campaign\ncoast\n")
    (tmp_path / "datasets.csv").write_text("campaign,version,bytes,created_at\ncoast,v2,20,2026-01-01\n")
    (tmp_path / "replicas.csv").write_text("dataset,region,s3_uri\ncoast@v2,eu-north-1,s3://team-north/coast/v2/\n")
    empty.load([tmp_path])
    assert why(feeds.discover(PLACES[1:]), COAST_US)[0] is False
    assert feeds.discover(PLACES[:1]).findings[1].is_replica
    assert regions_of(empty, "coast@v2") == ["eu-north-1", EU]


def test_what_belongs_to_no_dataset_is_told(feeds: Feeds, clients: Clients) -> None:
    put(clients, EU, "campaigns/a\x07b/v1/x", "x")
    odd = ("s3://team-eu-west-1/campaigns/a\x07b/v1/x", "s3://team-eu-west-1/campaigns/readme.txt")
    assert feeds.discover(PLACES).odd == odd


def test_an_address_that_is_given_twice_is_looked_at_once(feeds: Feeds) -> None:
    assert len(feeds.discover([PLACES[0], f"{PLACES[0]}/"]).findings) == 2


def test_tags_of_a_campaign_stay(feeds: Feeds, empty: Catalog, tmp_path: Any) -> None:
    (tmp_path / "campaigns.csv").write_text("campaign,tags,description\nalps,snow,passes\n")
    empty.load([tmp_path])
    feeds.discover(PLACES)
    (alps,) = (row for row in empty.show("campaigns") if row["campaign"] == "alps")
    assert (alps["tags"], alps["description"]) == (["snow"], "passes")


def test_a_look_changes_nothing(feeds: Feeds, empty: Catalog) -> None:
    assert len(feeds.discover(PLACES, keep=False).findings) == 4
    assert empty.show("replicas") == []


def test_a_place_without_a_dataset_is_told_with_what_is_there(feeds: Feeds) -> None:
    with pytest.raises(
        CatalogError, match=r"no key fits the pattern .*there is s3://team-eu-west-1/campaigns/alps/v1/a"
    ):
        feeds.discover(["s3://team-eu-west-1/campaigns/"], "deep/{campaign}/{version}/")
    with pytest.raises(CatalogError, match="nothing lies there"):
        feeds.discover(["s3://team-eu-west-1/elsewhere/"])


def test_what_is_no_address_or_no_bucket_is_told(feeds: Feeds) -> None:
    with pytest.raises(UsageError, match="'/data' is not an S3 URI"):
        feeds.discover(["/data"])
    with pytest.raises(NotFound, match="could not look for the bucket nobodys"):
        feeds.discover(["s3://nobodys/campaigns/"])
