from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from orchestrator.settings.max_age import MaxAge
from tests.catalog.conftest import write

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.catalog.catalog import Catalog

NOW = datetime(2026, 11, 21, tzinfo=timezone.utc)


def problems(catalog: Catalog, kind: str, now: datetime = NOW) -> list[str]:
    return [problem.message for problem in catalog.check(now) if problem.kind == kind]


def test_an_empty_catalog_has_no_problems(empty: Catalog) -> None:
    assert empty.check(NOW) == []


def test_a_sound_catalog_lacks_only_what_it_lacks(catalog: Catalog) -> None:
    assert [(problem.kind, problem.message) for problem in catalog.check(NOW)] == [
        (
            "quotas",
            "4 lanes without a known quota: sagemaker/eu-central-1/ml.g5.xlarge/on_demand, "
            "sagemaker/us-east-1/ml.g5.xlarge/on_demand, sagemaker/us-east-1/ml.p4d.24xlarge/on_demand, "
            "sagemaker/us-west-2/ml.g5.xlarge/on_demand",
        ),
        ("transfer_prices", "1 pair of Regions without a transfer price: eu-central-1 to us-east-1"),
    ]


def test_campaigns_without_datasets_and_datasets_without_replicas_are_named(catalog: Catalog, tmp_path: Path) -> None:
    catalog.load(
        [
            write(tmp_path, "campaigns", "campaign\narctic\ndesert"),
            write(tmp_path, "datasets", "campaign,version,bytes,created_at\narctic,v1,1,2026-01-01"),
        ]
    )
    assert problems(catalog, "datasets") == ["1 campaign without a dataset: desert"]
    assert problems(catalog, "replicas") == ["1 dataset without a replica: arctic@v1"]


def test_replicas_where_nothing_has_a_price_are_counted(catalog: Catalog, tmp_path: Path) -> None:
    rows = "dataset,region,s3_uri\nalps@v1,ap-south-1,s3://bucket/a\nalps@v2,ap-south-1,s3://bucket/b"
    catalog.load([write(tmp_path, "replicas", rows)])
    assert problems(catalog, "prices") == ["2 replicas in ap-south-1, where nothing has a price"]


def test_a_spot_price_that_is_no_bargain_is_named(catalog: Catalog, tmp_path: Path) -> None:
    rows = "us-east-1,ml.g5.xlarge,spot,1.5,2026-11-20T12:00:00Z"
    catalog.load([write(tmp_path, "prices", f"region,instance_type,purchase,usd_per_hour,observed_at\n{rows}")])
    assert problems(catalog, "prices") == [
        "1 spot price no lower than on demand: sagemaker/us-east-1/ml.g5.xlarge/spot at $1.5"
    ]


def test_prices_are_old_when_their_newest_observation_is(catalog: Catalog) -> None:
    oldest, max_age = datetime(2026, 11, 1, tzinfo=timezone.utc), MaxAge().prices
    assert problems(catalog, "prices", oldest + max_age) == []
    assert problems(catalog, "prices", oldest + max_age + timedelta(seconds=1)) == [
        "4 prices older than 30 days; the oldest is sagemaker/eu-central-1/ml.g5.xlarge/on_demand, of 2026-11-01"
    ]


def test_a_price_of_nothing_is_named(catalog: Catalog, tmp_path: Path) -> None:
    rows = "us-west-2,ml.g5.xlarge,on_demand,0,2026-11-20T12:00:00Z"
    catalog.load([write(tmp_path, "prices", f"region,instance_type,purchase,usd_per_hour,observed_at\n{rows}")])
    assert problems(catalog, "prices") == [
        "1 price of $0, taken for unknown: sagemaker/us-west-2/ml.g5.xlarge/on_demand"
    ]


def test_prices_that_nothing_is_trained_at_and_a_region_s_total_are_nothing_to_complain_of(
    catalog: Catalog, tmp_path: Path
) -> None:
    before = catalog.check(NOW)
    zone = "sagemaker,us-west-2-lax-1,ml.g5.xlarge,on_demand,9,2026-11-20"
    machine = "ec2,ap-south-1,g5.xlarge,on_demand,9,2026-11-20\nec2,ap-south-1,g5.xlarge,spot,9,2026-11-20"
    total = "ap-south-1,*,*,20,2026-11-20"
    catalog.load(
        [
            write(
                tmp_path,
                "prices",
                f"platform,region,instance_type,purchase,usd_per_hour,observed_at\n{zone}\n{machine}",
            ),
            write(tmp_path, "quotas", f"region,instance_type,purchase,slots,observed_at\n{total}"),
        ]
    )
    assert catalog.check(NOW) == before


def test_interruption_rates_of_what_has_no_price_are_named(catalog: Catalog, tmp_path: Path) -> None:
    rows = [
        "sagemaker,us-east-1,ml.g5.xlarge,0.01,2026-11-01",
        "ec2,us-east-1,g5.xlarge,0.01,2026-11-01",
        "ec2,us-east-1,g6.xlarge,0.01,2026-11-01",
    ]
    head = "platform,region,instance_type,per_hour,observed_at"
    catalog.load([write(tmp_path, "interruptions", "\n".join([head, *rows]))])
    assert problems(catalog, "prices") == ["1 interruption rate of what has no price: ec2/us-east-1/g6.xlarge"]


def test_commitments_that_are_over_or_fit_nothing_are_named(catalog: Catalog, tmp_path: Path) -> None:
    rows = [
        "old,savings_plan,*,*,10,0.3,2025-11-01,2026-11-01",
        "new,savings_plan,*,*,10,0.3,2026-11-01,2027-11-01",
        "far,savings_plan,ap-south-1,ml.g5.xlarge,10,0.3,2026-11-01,2027-11-01",
    ]
    head = "commitment,kind,region,instance_type,usd_per_hour,discount,starts_at,ends_at"
    catalog.load([write(tmp_path, "commitments", "\n".join([head, *rows]))])
    assert problems(catalog, "commitments") == ["1 commitment that is over: old (2026-11-01)"]
    assert problems(catalog, "prices") == ["far is for ml.g5.xlarge in ap-south-1, which has no on_demand price"]
