"""A small catalog: three campaigns in four Regions, with one gap of each kind, and commitments of a later year."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.catalog.platforms import make_catalog

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from orchestrator.catalog.catalog import Catalog

FILES = {
    "campaigns": """
        campaign,recorded_from,recorded_to,tags,description
        alps,2026-01-10,2026-01-20,snow; night,passes and tunnels
        coast,2026-03-01,2026-03-31,day,
        tokyo,,,night;rain,"narrow, crowded streets"
        """,
    "datasets": """
        campaign,version,bytes,created_at
        alps,v1,100000000000,2026-02-01
        alps,v2,120000000000,2026-05-01T12:00:00+02:00
        coast,v1,200000000000,2026-04-01T00:00:00Z
        tokyo,v1,50000000000,2026-04-02
        """,
    "replicas": """
        dataset,region,s3_uri,bytes
        alps@v1,eu-central-1,s3://data-eu-central-1/alps/v1/,
        alps@v2,eu-central-1,s3://data-eu-central-1/alps/v2/,
        alps@v2,us-east-1,s3://data-us-east-1/alps/v2/,119000000000
        coast@v1,us-west-2,s3://data-us-west-2/coast/,
        tokyo@v1,us-east-1,s3://data-us-east-1/tokyo/,
        """,
    "prices": """
        region,instance_type,purchase,usd_per_hour,observed_at,source
        us-east-1,ml.g5.xlarge,on_demand,1.408,2026-11-01T00:00:00Z,list
        us-east-1,ml.g5.xlarge,spot,0.7,2026-11-19T00:00:00Z,history
        us-east-1,ml.g5.xlarge,spot,0.5,2026-11-20T00:00:00Z,history
        us-east-1,ml.p4d.24xlarge,on_demand,37.688,2026-11-01T00:00:00Z,list
        us-west-2,ml.g5.xlarge,on_demand,1.408,2026-11-01T00:00:00Z,list
        us-west-2,ml.g5.xlarge,spot,0.6,2026-11-20T00:00:00Z,history
        eu-central-1,ml.g5.xlarge,on_demand,1.76,2026-11-01T00:00:00Z,list
        """,
    "quotas": """
        region,instance_type,purchase,slots,observed_at
        us-east-1,ml.g5.xlarge,spot,4,2026-10-01
        us-east-1,ml.g5.xlarge,spot,12,2026-11-01
        us-west-2,ml.g5.xlarge,spot,0,2026-11-01
        """,
    "instance_types": """
        instance_type,vcpus,memory_gib,chip,chips,chip_memory_gib,gbps,efa
        g9.xlarge,4,16,B400,1,256,50,true
        x1.large,2,8,,,,,
        """,
    "quota_use": """
        region,quota,used
        us-east-1,ml.g5.xlarge/spot,3
        us-east-1,*/*,5
        """,
    "transfer_prices": """
        from_region,to_region,from_gb,usd_per_gb
        eu-central-1,us-west-2,0,0.02
        us-east-1,us-west-2,0,0.02
        us-east-1,us-west-2,100,0.01
        us-west-2,us-east-1,0,0.02
        us-west-2,eu-central-1,0,0.02
        us-east-1,eu-central-1,0,0.02
        """,
    "storage_prices": """
        region,from_gb,usd_per_gb_month
        us-west-2,0,0.025
        us-west-2,50000,0.024
        us-east-1,,0.023
        """,
    "placement_scores": """
        platform,region,family,score,observed_at
        ec2,us-east-1,g5,7,2026-11-01
        """,
    "interruptions": """
        region,instance_type,per_hour,observed_at
        us-east-1,ml.p4d.24xlarge,0.02,2026-11-01
        """,
    "commitments": """
        commitment,kind,region,instance_type,slots,usd_per_hour,discount,starts_at,ends_at,arn
        winter,training_plan,us-east-1,ml.p4d.24xlarge,2,,,2030-01-01,2030-02-01,arn:aws:sagemaker:us-east-1:111122223333:training-plan/winter
        saved,savings_plan,eu-central-1,ml.g5.xlarge,,5.5,0.25,2030-01-01,2031-01-01,
        """,
}


def write(folder: Path, kind: str, text: str) -> Path:
    """A file of this kind, its lines without the indentation they have in a test."""
    file = folder / f"{kind}.csv"
    file.write_text("\n".join(line.strip() for line in text.strip().splitlines()) + "\n", encoding="utf-8")
    return file


def small(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    for kind, text in FILES.items():
        write(folder, kind, text)
    return folder


@pytest.fixture
def empty(database_url: str) -> Catalog:
    return make_catalog(database_url)


@pytest.fixture
def catalog(empty: Catalog, tmp_path: Path) -> Catalog:
    empty.load([small(tmp_path / "small")])
    return empty


@pytest.fixture(scope="session")
def small_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """A small catalog for the many tests that do not change it."""
    folder = tmp_path_factory.mktemp("small")
    return _loaded(f"sqlite:///{folder / 'catalog.db'}", folder)


@pytest.fixture(scope="session")
def small_postgresql(postgresql: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    with postgresql.database(template="migrated") as url:
        yield _loaded(url, tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def shared(request: pytest.FixtureRequest) -> Any:
    """A small catalog on each of both databases, for tests that do not change it."""
    return request.getfixturevalue(f"small_{request.param}")


def _loaded(url: str, folder: Path) -> Catalog:
    catalog = make_catalog(url)
    catalog.load([small(folder)])
    return catalog


@pytest.fixture(scope="session")
def empty_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    return make_catalog(f"sqlite:///{tmp_path_factory.mktemp('empty') / 'catalog.db'}")


@pytest.fixture(scope="session")
def empty_postgresql(postgresql: Any) -> Iterator[Catalog]:
    with postgresql.database(template="migrated") as url:
        yield make_catalog(url)
