"""A price is as old as the moment when it was last seen to be what it is."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from orchestrator.catalog.files.observe import Observed
from orchestrator.wire.task import Lane, Purchase
from tests.catalog.platforms import make_catalog

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.catalog.catalog import Catalog

LISTED = datetime(2026, 11, 1, tzinfo=timezone.utc)
SPOT = Lane("sagemaker", "us-east-1", "ml.g5.xlarge", Purchase.SPOT)
ON_DEMAND = Lane("sagemaker", "us-east-1", "ml.g5.xlarge", Purchase.ON_DEMAND)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def priced(empty: Catalog, tmp_path: Path) -> Catalog:
    """Prices on demand of SageMaker and EC2, and of spot EC2's alone, all of the first of November."""
    rows = ("sagemaker,us-east-1,ml.g5.xlarge,on_demand,1.4", "ec2,us-east-1,g5.xlarge,on_demand,1.0")
    lines = [f"{row},2026-11-01" for row in (*rows, "ec2,us-east-1,g5.xlarge,spot,0.4")]
    file = tmp_path / "prices.csv"
    file.write_text("\n".join(["platform,region,instance_type,purchase,usd_per_hour,observed_at", *lines]) + "\n")
    empty.load([file])
    return empty


def see(catalog: Catalog, usd: float, at: datetime) -> None:
    """What a feed tells of EC2's spot at some moment."""
    row = {"platform": "ec2", "region": "us-east-1", "instance_type": "g5.xlarge", "purchase": "spot"}
    rows = [{**row, "usd_per_hour": usd, "observed_at": at}]
    catalog.observe(Observed("spot", "prices", "us-east-1", at, rows))


def test_young_prices_are_not_told(priced: Catalog) -> None:
    assert priced.tell_ages([SPOT, ON_DEMAND], LISTED + DAY) == ()


def test_old_spot_prices_are_told_also_where_another_price_stands_in(priced: Catalog) -> None:
    told = "1 spot price last seen 25 hours ago: prices.csv told them: load newer ones"
    assert priced.tell_ages([SPOT, ON_DEMAND], LISTED + 25 * HOUR) == (told,)


def test_prices_on_demand_may_be_a_month_old(priced: Catalog) -> None:
    assert priced.tell_ages([ON_DEMAND], LISTED + 30 * DAY) == ()
    told = "1 on_demand price last seen 31 days ago: prices.csv told them: load newer ones"
    assert priced.tell_ages([ON_DEMAND], LISTED + 31 * DAY) == (told,)


def test_a_price_that_a_feed_sees_again_is_young_though_it_adds_no_row(priced: Catalog) -> None:
    for day in (3, 4, 5):
        see(priced, 0.5, LISTED + day * DAY)
    assert len(priced.show("prices")) == 4
    assert priced.tell_ages([SPOT], LISTED + 6 * DAY) == ()
    told = "1 spot price last seen 25 hours ago: `sweep catalog refresh` asks AWS"
    assert priced.tell_ages([SPOT], LISTED + 6 * DAY + HOUR) == (told,)


def test_a_price_of_a_file_is_not_made_younger_by_another_feed(priced: Catalog) -> None:
    see(priced, 0.4, LISTED + 9 * DAY)
    assert priced.tell_ages([ON_DEMAND], LISTED + 39 * DAY) != ()


def test_a_lane_without_a_price_has_no_age(priced: Catalog) -> None:
    committed = Lane("sagemaker", "us-east-1", "ml.g5.xlarge", Purchase.COMMITTED)
    elsewhere = Lane("sagemaker", "eu-west-1", "ml.g5.xlarge", Purchase.SPOT)
    assert priced.tell_ages([committed, elsewhere], LISTED + 99 * DAY) == ()


def load(catalog: Catalog, folder: Path, kind: str, text: str) -> tuple[str, ...]:
    file = folder / f"{kind}.csv"
    file.write_text(text, encoding="utf-8")
    return catalog.load([file]).to_come


def test_quotas_and_interruption_rates_are_told_as_prices_are(priced: Catalog, tmp_path: Path) -> None:
    quota = "region,instance_type,purchase,slots,observed_at\nus-east-1,ml.g5.xlarge,spot,4,2026-11-01\n"
    load(priced, tmp_path, "quotas", quota)
    rates = "platform,region,instance_type,per_hour,observed_at\nec2,us-east-1,g5.xlarge,0.01,2026-11-01\n"
    load(priced, tmp_path, "interruptions", rates)
    assert set(priced.tell_ages([SPOT], LISTED + 31 * DAY)) == {
        "1 spot price last seen 31 days ago: prices.csv told them: load newer ones",
        "1 quota last seen 31 days ago: quotas.csv told them: load newer ones",
        "1 interruption rate last seen 31 days ago: interruptions.csv told them: load newer ones",
    }


def test_each_kind_may_be_as_old_as_its_setting_says(database_url: str, tmp_path: Path) -> None:
    catalog = make_catalog(database_url, max_age={"spot_prices": "3d", "prices": "12h"})
    rows = "us-east-1,ml.g5.xlarge,on_demand,1.4,2026-11-01\nus-east-1,ml.g5.xlarge,spot,0.4,2026-11-01"
    load(catalog, tmp_path, "prices", f"region,instance_type,purchase,usd_per_hour,observed_at\n{rows}\n")
    assert catalog.tell_ages(None, LISTED + 2 * DAY - HOUR)[0].startswith("1 on_demand price last seen 47 hours ago")
    assert catalog.tell_ages([SPOT, ON_DEMAND], LISTED + 3 * DAY)[0].startswith("1 on_demand price last seen 3 days")
    assert len(catalog.tell_ages([SPOT, ON_DEMAND], LISTED + 3 * DAY)) == 1
    assert len(catalog.tell_ages([SPOT, ON_DEMAND], LISTED + 3 * DAY + HOUR)) == 2
