"""What a file dates later than now stays in the catalog, is not planned by, and is told."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from orchestrator.errors import InfeasibleError
from tests.catalog.conftest import write
from tests.fixtures.sweeps import make_sweep

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.catalog.catalog import Catalog
    from orchestrator.catalog.market import Market

HEAD = "region,instance_type,purchase,usd_per_hour,observed_at"
SWEEP = make_sweep(data={"campaigns": ["coast"]}, where={"instance_types": ["ml.g5.xlarge"], "regions": ["us-west-2"]})


def moment(ahead: timedelta) -> str:
    return (datetime.now(timezone.utc) + ahead).strftime("%Y-%m-%dT%H:%M:%SZ")


def usd(market: Market) -> list[float]:
    return list(market.candidates["usd_per_hour"])


def test_a_price_of_a_wrong_clock_is_told_where_it_is_loaded_and_where_it_is_not_used(
    catalog: Catalog, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    early = moment(timedelta(days=90))
    rows = [f"us-west-2,ml.g5.xlarge,on_demand,1.408,{moment(-timedelta(hours=1))}"]
    rows += [f"us-west-2,ml.g5.xlarge,{purchase},0.01,{early}" for purchase in ("on_demand", "spot")]
    file = write(tmp_path, "prices", "\n".join([HEAD, *rows]))
    said = f"{early[:10]} {early[11:16]} UTC"
    told = f"{file}:3:observed_at: {said} is later than now: it is not used until then, nor 1 more"
    assert catalog.load([file]).to_come == (told,)
    for _ in range(2):
        assert usd(catalog.survey(SWEEP)) == [1.408, 0.6]
    (line,) = [record.getMessage() for record in caplog.records]
    lanes = [
        f"sagemaker/us-west-2/ml.g5.xlarge/{purchase} of {said} in prices.csv" for purchase in ("spot", "on_demand")
    ]
    assert line == (
        f"not used, for it is dated later than now: {', '.join(lanes)}; load it again with the right observed_at"
    )
    assert {price.usd_per_hour for price in catalog.price_history(["ml.g5.xlarge"])} == {0.5, 0.6, 1.408, 1.76}
    assert line in [problem.message for problem in catalog.check()]


def test_clocks_may_differ_by_some_minutes(catalog: Catalog, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    row = f"us-west-2,ml.g5.xlarge,spot,0.3,{moment(timedelta(minutes=10))}"
    assert catalog.load([write(tmp_path, "prices", f"{HEAD}\n{row}")]).to_come == ()
    assert usd(catalog.survey(SWEEP)) == [1.408, 0.3]
    assert not caplog.records


def test_quotas_and_interruption_rates_to_come_are_not_used_either(catalog: Catalog, tmp_path: Path) -> None:
    early = moment(timedelta(hours=2))
    quota = f"region,instance_type,purchase,slots,observed_at\nus-west-2,ml.g5.xlarge,spot,500,{early}"
    rate = f"region,instance_type,per_hour,observed_at\nus-west-2,ml.g5.xlarge,0.9,{early}"
    catalog.load([write(tmp_path, "quotas", quota), write(tmp_path, "interruptions", rate)])
    market = catalog.survey(SWEEP)
    assert list(market.quotas["units"]) == [0]
    assert market.candidates["interruptions_per_hour"].isna().all()


def test_loading_it_again_with_the_right_date_mends_it(catalog: Catalog, tmp_path: Path) -> None:
    for ahead in (timedelta(days=90), -timedelta(minutes=5)):
        row = f"us-west-2,ml.g5.xlarge,spot,0.3,{moment(ahead)}"
        report = catalog.load([write(tmp_path, "prices", f"{HEAD}\n{row}")])
    assert report.counts["prices"].removed == 1
    assert catalog.tell_to_come() == ""
    assert usd(catalog.survey(SWEEP)) == [1.408, 0.3]


def test_a_sweep_whose_only_price_is_to_come_has_no_price(
    empty: Catalog, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files = {
        "campaigns": "campaign\ncoast",
        "datasets": "campaign,version,bytes,created_at\ncoast,v1,1,2026-01-01",
        "replicas": "dataset,region,s3_uri\ncoast@v1,us-west-2,s3://data/coast/",
        "prices": f"{HEAD}\nus-west-2,ml.g5.xlarge,on_demand,1,{moment(timedelta(days=1))}\n"
        f"us-west-2,ml.p4d.24xlarge,on_demand,1,2026-11-01",
    }
    empty.load([write(tmp_path, kind, text) for kind, text in files.items()])
    with pytest.raises(InfeasibleError, match=r"no price of instance type 'ml.g5.xlarge' is known"):
        empty.survey(SWEEP)
    assert "dated later than now" in caplog.text
