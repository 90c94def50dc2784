from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator.cli.commands.account.prices import sparkline

if TYPE_CHECKING:
    from tests.cli.calls import Sweep

NOW = datetime.now(timezone.utc)


@pytest.fixture
def priced(sweep: Sweep) -> Sweep:
    """A type whose spot price rose three days ago, in one of two Regions."""
    rows = ["region,instance_type,purchase,usd_per_hour,observed_at"]
    rows += [f"{region},ml.g5.xlarge,on_demand,1.4,{NOW - timedelta(days=20)}" for region in ("us-east-1", "eu-west-1")]
    rows += [f"us-east-1,ml.g5.xlarge,spot,{usd},{NOW - timedelta(days=ago)}" for usd, ago in ((0.4, 9.5), (0.6, 2.5))]
    Path("prices.csv").write_text("\n".join(rows) + "\n")
    assert sweep("catalog", "load", "prices.csv").code == 0
    return sweep


def test_prices_are_shown_cheapest_first_with_their_age(priced: Sweep) -> None:
    header, spot, *on_demand = priced("prices", "ml.g5.xlarge").out.splitlines()
    assert header.split()[:3] == ["REGION", "INSTANCE_TYPE", "PURCHASE"]
    assert spot.split()[:4] == ["us-east-1", "ml.g5.xlarge", "spot", "0.6000"]
    assert "▁▁▁▁▁▁▁███" in spot
    assert len(on_demand) == 2


def test_json_has_each_day(priced: Sweep) -> None:
    spot, *_ = json.loads(priced("prices", "ml.g5.xlarge", "--json").out)
    assert spot["days"] == [None] * 20 + [0.4] * 7 + [0.6] * 3


def test_the_days_are_drawn_into_a_file(priced: Sweep) -> None:
    ended = priced("prices", "ml.g5.xlarge", "--plot", "prices.svg")
    assert "wrote prices.svg" in ended.err
    picture = Path("prices.svg").read_text()
    assert all(f"{region} ml.g5.xlarge on_demand" in picture for region in ("us-east-1", "eu-west-1"))
    assert "us-east-1 ml.g5.xlarge spot" in picture


def test_a_picture_of_one_region_has_no_other(priced: Sweep) -> None:
    assert priced("prices", "ml.g5.xlarge", "--region", "eu-west-1", "--plot", "prices.svg").code == 0
    assert "us-east-1" not in Path("prices.svg").read_text()


def test_a_file_of_another_kind_is_not_drawn_into(priced: Sweep) -> None:
    ended = priced("prices", "ml.g5.xlarge", "--plot", "prices.pdf")
    assert (ended.code, ended.out) == (2, "")
    assert "prices.pdf is neither a .svg nor a .png file (name it prices.svg)" in ended.err


def test_one_region_is_shown_alone(priced: Sweep) -> None:
    rows = json.loads(priced("prices", "ml.g5.xlarge", "--region", "eu-west-1", "--json").out)
    assert [row["region"] for row in rows] == ["eu-west-1"]


def test_a_type_without_a_price_is_told(priced: Sweep) -> None:
    ended = priced("prices", "ml.g5.xlarge", "ml.p5.48xlarge")
    assert ended.code == 2
    assert "the catalog has no price of ml.p5.48xlarge" in ended.err


def test_a_misspelt_type_is_told_with_the_nearest(priced: Sweep) -> None:
    assert "ml.g5.xlargee (did you mean 'ml.g5.xlarge'?)" in priced("prices", "ml.g5.xlargee").err


def test_a_line_of_bars_has_one_for_each_day() -> None:
    assert sparkline([None, 1.0, 1.5, 2.0]) == " ▁▅█"
    assert sparkline([2.0, 2.0]) == "▁▁"
    assert sparkline([None]) == ""
