"""What a run costs beside its trainings: by hand, from what its trainings took and what its buckets hold."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from orchestrator.aws.s3 import Listed
from orchestrator.errors import AccessDenied
from orchestrator.plan.copy import Copy
from orchestrator.runs.known.rows import Known
from orchestrator.runs.views import beside
from orchestrator.runs.views.beside import GB, Stored, costs_beside, read_storage_prices
from orchestrator.runs.written.anchor import Anchor
from orchestrator.wire.result import Outcome, Result, TaskState
from orchestrator.wire.task import Lane, Purchase
from tests.catalog.platforms import make_catalog
from tests.runs.bench import plan

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.runs.cloud import Cloud

CONTROL, OTHERS = "ap-south-1", "eu-west-1"
PRICES = {region: [(0.0, 0.02), (1.5, 0.01)] for region in (CONTROL, OTHERS, "us-east-1", "us-west-2")}
"""Of tiers that begin after a gigabyte and a half."""
LANE = Lane("sagemaker", "us-east-1", "ml.g5.xlarge", Purchase.SPOT)


class Bucket:
    def __init__(self, sizes: list[int], region: str = CONTROL, bucket: str = "control") -> None:
        self.sizes, self.region, self.bucket = sizes, region, bucket

    def list(self, prefix: str) -> list[Listed]:
        if not self.sizes:
            raise AccessDenied("may not list")
        return [Listed(f"{prefix}{number}", "etag", size) for number, size in enumerate(self.sizes)]


def cloud_of(control: list[int], data: list[int]) -> Cloud:
    """A control bucket, and a bucket like this in each Region."""
    return cast("Cloud", SimpleNamespace(s3=Bucket(control), bucket=lambda region: Bucket(data, region, region)))


def anchor_of(**changes: Any) -> Anchor:
    return Anchor("nightly", replace(plan(tasks=2), **changes), "code", "ada", 1e9)


def task(number: int, *seconds: float) -> Known:
    outcomes = tuple(
        Outcome(n, LANE, f"t-{number}-{n}", TaskState.DONE, seconds=each, instances=4)
        for n, each in enumerate(seconds, 1)
    )
    return Known("etag", Result(number, "key", TaskState.DONE, outcomes=outcomes), TaskState.DONE)


def test_one_launcher_watches_a_training_of_however_many_instances() -> None:
    found = costs_beside(anchor_of(), [task(0, 1800.0, 1800.0), task(1, 3600.0)], None, {})
    assert found.launcher_hours == 2.0
    assert found.launchers_usd == pytest.approx(2 * 0.0124)
    assert found.stored is None, "nobody has looked"


def copied_to(region: str) -> Anchor:
    anchor = anchor_of()
    copy = Copy(0, "us-east-1", region, "s3://a/", "s3://b/", usd=0.02, hours=0.1)
    return replace(anchor, plan=replace(anchor.plan, copies=(copy,)))


def test_all_that_lies_in_its_buckets_is_counted_with_the_copies_that_it_made() -> None:
    anchor = copied_to(OTHERS)
    size, regions = anchor.plan.datasets[0].bytes, {region for _, region in anchor.plan.sites}
    found = costs_beside(anchor, [], cloud_of([GB], [GB, GB]), PRICES)
    total = GB + len(regions) * 2 * GB + size
    assert (found.copies, found.copies_usd) == (1, 0.02)
    assert found.stored is not None
    assert (found.stored.objects, found.stored.bytes) == (1 + 2 * len(regions), total)
    assert found.stored.unpriced == ()


def test_each_region_has_its_own_price_and_each_tier_of_it() -> None:
    (region,) = {region for _, region in anchor_of().plan.sites}
    prices = {CONTROL: [(0.0, 0.03)], region: [(0.0, 0.02), (1.5, 0.01)]}
    stored = costs_beside(anchor_of(), [], cloud_of([GB], [GB, GB]), prices).stored
    assert stored is not None
    assert stored.usd_per_month == pytest.approx(0.03 + 1.5 * 0.02 + 0.5 * 0.01)


def test_where_no_price_is_known_it_is_said_and_nothing_is_made_up() -> None:
    (region,) = {region for _, region in anchor_of().plan.sites}
    stored = costs_beside(anchor_of(), [], cloud_of([GB], [GB]), {CONTROL: [(0.0, 0.03)]}).stored
    assert stored == Stored(2, 2 * GB, pytest.approx(0.03), is_whole=True, unpriced=(region,))


def test_a_bucket_that_is_both_is_counted_once() -> None:
    (region,) = {region for _, region in anchor_of().plan.sites}
    one = Bucket([GB], region, "one")
    cloud = cast("Cloud", SimpleNamespace(s3=one, bucket=lambda _: one))
    stored = costs_beside(anchor_of(), [], cloud, {region: [(0.0, 0.03)]}).stored
    assert stored == Stored(1, GB, pytest.approx(0.03), is_whole=True)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_prices_are_the_catalog_s_in_the_order_of_their_tiers(database_url: str, tmp_path: Path) -> None:
    catalog = make_catalog(database_url)
    file = tmp_path / "storage_prices.csv"
    file.write_text("region,from_gb,usd_per_gb_month\neu-west-1,51200,0.022\neu-west-1,0,0.023\nsa-east-1,0,0.04\n")
    catalog.load([file])
    assert read_storage_prices(catalog.engine) == {
        "eu-west-1": [(0.0, 0.023), (51200.0, 0.022)],
        "sa-east-1": [(0.0, 0.04)],
    }


def test_what_may_not_be_listed_is_not_known() -> None:
    assert costs_beside(anchor_of(), [], cloud_of([GB], []), PRICES).stored is None


def test_a_bucket_with_too_many_objects_is_counted_in_part_and_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "MOST_LISTED", 2)
    stored = costs_beside(anchor_of(), [], cloud_of([5, 5, 5], [5]), PRICES).stored
    assert stored is not None
    assert not stored.is_whole
