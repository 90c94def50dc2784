from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.api import Orchestrator, Settings, read_settings
from orchestrator.demo import sample_data
from orchestrator.demo.driving import CAMPAIGNS
from orchestrator.demo.main import REGIONS, read_demo_sweep
from orchestrator.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from orchestrator.api import Plan
    from orchestrator.demo.sample_data import SampleData

Put = dict[str, bytes]


@pytest.fixture
def put(monkeypatch: pytest.MonkeyPatch) -> Put:
    """The objects that were put into S3, by URI."""
    objects: Put = {}

    def keep(files: Mapping[str, bytes], region: str, bucket: str, prefix: str) -> None:
        assert bucket.endswith(region)
        objects.update({f"s3://{bucket}/{prefix}{name}": body for name, body in files.items()})

    monkeypatch.setattr(sample_data, "upload", keep)
    return objects


@pytest.fixture
def created(put: Put, tmp_path: Path) -> SampleData:
    assert not put
    return sample_data.create_sample_data(tmp_path, "drives-{region}")


@pytest.fixture
def orchestrator(tmp_path: Path) -> Orchestrator:
    return Orchestrator(Settings(database=f"sqlite:///{tmp_path / 'sweep.db'}"))


@pytest.fixture
def plan(orchestrator: Orchestrator, created: SampleData) -> Plan:
    orchestrator.catalog.load(created.catalog)
    return orchestrator.plan(read_demo_sweep("mpi"))


def test_the_catalog_has_nothing_to_complain_of(orchestrator: Orchestrator, created: SampleData) -> None:
    orchestrator.catalog.load(created.catalog)
    assert orchestrator.catalog.check() == []


def test_some_campaigns_lie_in_several_regions(created: SampleData) -> None:
    assert created.replicas > len(CAMPAIGNS)


def test_every_place_of_the_plan_has_its_recordings(plan: Plan, put: Put) -> None:
    for share in plan.shares:
        for place in share.places:
            assert sum(uri.startswith(place.s3_uri) for uri in put) == 6


def test_the_plan_spreads_24_tasks_over_four_regions(plan: Plan) -> None:
    assert plan.tasks == 24
    assert {share.places[0].lane.region for share in plan.shares} == set(REGIONS)


def test_what_a_platform_sells_stands_in_its_prices_and_a_platform_without_any_is_refused() -> None:
    assert sample_data.types_for_sale("ec2") == ["c5.4xlarge", "m5.4xlarge"]
    assert sample_data.types_for_sale("eks") == ["c5.xlarge"]
    with pytest.raises(UsageError, match="the demo knows no prices of moon"):
        sample_data.types_for_sale("moon")


def test_a_platform_that_asks_for_settings_has_them_in_the_demo(tmp_path: Path) -> None:
    sample_data.write_settings(tmp_path, "ec2")
    assert not (tmp_path / "sweep.toml").exists()
    sample_data.write_settings(tmp_path, "eks")
    assert read_settings({}, folder=tmp_path).platforms == {"eks": {"cluster": "sweep"}}
