"""What is paid for, promised or held already, from files to the Market."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import insert

from orchestrator.catalog.market import DISCOUNTS, HISTORY, Past, table
from orchestrator.catalog.survey.commitments import FAR_H, HOUR, window
from orchestrator.db.engine import writing
from orchestrator.db.tables import leases, runs
from orchestrator.errors import CatalogError, InfeasibleError, UsageError
from tests.catalog.conftest import small, write
from tests.catalog.platforms import Machines, make_catalog
from tests.fixtures.sweeps import make_sweep

if TYPE_CHECKING:
    from orchestrator.catalog.catalog import Catalog
    from orchestrator.spec.sweep import Sweep

NOW = datetime(2026, 11, 20, 10, 30, tzinfo=timezone.utc)
ARN = "arn:aws:sagemaker:us-east-1:111122223333:training-plan/"
COMMITMENTS = f"""
    commitment,kind,region,instance_type,slots,usd_per_hour,discount,starts_at,ends_at,arn
    autumn,training_plan,us-east-1,ml.g5.xlarge,4,,,2026-11-20T12:00:00Z,2026-11-21T12:00:00Z,{ARN}autumn
    gone,training_plan,us-east-1,ml.g5.xlarge,4,,,2026-11-01,2026-11-20T11:00:00Z,{ARN}gone
    large,training_plan,us-east-1,ml.p5.48xlarge,2,,,2026-11-01,2026-12-01,{ARN}large
    all,savings_plan,*,*,,12.5,0.27,2026-01-01,2029-01-01,
    some,savings_plan,us-west-2,ml.g5.xlarge,,3,0.4,2026-11-21,2026-11-22,
    past,savings_plan,*,*,,9,0.5,2025-01-01,2026-01-01,
    """


def sweep(*purchases: str, types: tuple[str, ...] = ("ml.g5.xlarge",), **data: Any) -> Sweep:
    return make_sweep(
        data=data, where={"instance_types": list(types), "purchases": list(purchases or ("spot", "on_demand"))}
    )


@pytest.fixture
def committed(catalog: Catalog, tmp_path: Path) -> Catalog:
    catalog.load([write(tmp_path, "commitments", COMMITMENTS)])
    return catalog


def test_commitments_come_out_as_they_went_in_and_loading_them_twice_changes_nothing(
    committed: Catalog, tmp_path: Path
) -> None:
    assert not committed.load([write(tmp_path, "commitments", COMMITMENTS)]).changed
    rows = {row["commitment"]: row for row in committed.show("commitments")}
    assert list(rows) == ["all", "autumn", "gone", "large", "past", "saved", "some", "winter"]
    assert rows["autumn"] == {
        "commitment": "autumn",
        "kind": "training_plan",
        "platform": "sagemaker",
        "region": "us-east-1",
        "instance_type": "ml.g5.xlarge",
        "slots": 4,
        "usd_per_hour": None,
        "discount": None,
        "starts_at": datetime(2026, 11, 20, 12, tzinfo=timezone.utc),
        "ends_at": datetime(2026, 11, 21, 12, tzinfo=timezone.utc),
        "arn": f"{ARN}autumn",
        "source": "commitments.csv",
    }


def test_a_training_plan_is_a_lane_that_costs_nothing_while_it_is_ours(committed: Catalog) -> None:
    market = committed.survey(sweep("committed", "on_demand", campaigns=["tokyo"]), now=NOW)
    plan, on_demand = market.candidates.to_dict("records")
    assert (plan["purchase"], plan["usd_per_hour"], plan["on_demand_usd_per_hour"]) == ("committed", 0.0, 1.408)
    assert (plan["opens_h"], plan["closes_h"], plan["site"]) == (2.0, 25.0, f"{ARN}autumn")
    assert (on_demand["opens_h"], on_demand["closes_h"]) == (0.0, inf)
    assert pd.isna(on_demand["site"])


def test_a_training_plan_is_used_only_where_the_sweep_allows_it(committed: Catalog) -> None:
    bought = committed.survey(sweep(campaigns=["tokyo"]), now=NOW).candidates["purchase"]
    assert list(bought) == ["on_demand", "spot"]
    with pytest.raises(InfeasibleError, match=r"it has on_demand and spot prices there"):
        committed.survey(sweep("committed", campaigns=["coast"]), now=NOW)


def test_what_only_a_training_plan_has_needs_no_price(committed: Catalog) -> None:
    market = committed.survey(sweep("committed", types=("ml.p5.48xlarge",), campaigns=["tokyo"]), now=NOW)
    assert list(market.candidates["site"]) == [f"{ARN}large"]
    assert market.candidates["on_demand_usd_per_hour"].isna().all()


def test_of_a_training_plan_in_two_parts_the_first_that_is_not_over_counts(catalog: Catalog, tmp_path: Path) -> None:
    parts = [
        f"{name},training_plan,us-east-1,ml.g5.xlarge,4,2026-11-{day},2026-11-{day + 1},{ARN}parts"
        for name, day in (("third", 25), ("first", 18), ("second", 22))
    ]
    head = "commitment,kind,region,instance_type,slots,starts_at,ends_at,arn"
    catalog.load([write(tmp_path, "commitments", "\n".join([head, *parts]))])
    rows = catalog.survey(sweep("committed", campaigns=["tokyo"]), now=NOW).candidates
    assert rows[["opens_h", "closes_h"]].values.tolist() == [[38.0, 61.0]]


def test_a_reservation_without_an_end_is_a_lane_for_as_long_as_anybody_plans(catalog: Catalog, tmp_path: Path) -> None:
    rows = [
        f"kept,reservation,us-east-1,ml.g5.xlarge,4,2026-11-01,,{ARN}kept",
        f"ends,reservation,us-east-1,ml.g5.xlarge,2,2026-11-01,2026-11-20T13:00:00Z,{ARN}ends",
    ]
    head = "commitment,kind,region,instance_type,slots,starts_at,ends_at,arn"
    catalog.load([write(tmp_path, "commitments", "\n".join([head, *rows]))])
    market = catalog.survey(sweep("committed", campaigns=["tokyo"]), now=NOW)
    ours = market.candidates[market.candidates["site"].isin([f"{ARN}kept", f"{ARN}ends"])]
    assert ours[["opens_h", "closes_h", "usd_per_hour"]].values.tolist() == [[0, 2, 0], [0, inf, 0]]
    slots = market.quotas.set_index("quota")["units"].to_dict()
    assert (slots[f"{ARN}kept"], slots[f"{ARN}ends"]) == (4, 2)


def test_savings_plans_that_are_neither_over_nor_far_off_are_pools_of_on_demand_hours(committed: Catalog) -> None:
    pools = committed.survey(sweep(), now=NOW).pools.to_dict("records")
    platform = {"platform": "sagemaker"}
    everywhere = {"region": "*", "instance_type": "*", "usd_per_hour": 12.5, "discount": 0.27}
    somewhere = {"region": "us-west-2", "instance_type": "ml.g5.xlarge", "usd_per_hour": 3.0, "discount": 0.4}
    assert pools == [
        {"pool": "all", **platform, **everywhere, "opens_h": 0.0, "closes_h": inf},
        {"pool": "some", **platform, **somewhere, "opens_h": 14.0, "closes_h": 37.0},
    ]
    assert committed.survey(sweep("spot", campaigns=["tokyo"]), now=NOW).pools.empty


def test_within_an_hour_the_market_is_the_same_and_without_commitments_always(
    committed: Catalog, small_sqlite: Catalog
) -> None:
    wanted = sweep("committed", "on_demand", campaigns=["tokyo"])

    def market(catalog: Catalog, **later: float) -> str:
        return catalog.survey(wanted, now=NOW + timedelta(**later)).hash

    assert market(committed) == market(committed, minutes=29)
    assert market(committed) != market(committed, minutes=31)
    assert market(small_sqlite) == market(small_sqlite, days=400)


moments = st.datetimes(datetime(2026, 1, 1), datetime(2028, 1, 1), timezones=st.just(timezone.utc))


@given(moments, moments, moments)
def test_a_window_never_promises_an_hour_that_is_not_there(now: datetime, starts: datetime, ends: datetime) -> None:
    opens, closes = window(starts, ends, now)
    begun = now.replace(minute=0, second=0, microsecond=0)
    assert 0 <= opens < max((starts - now) / HOUR, 0) + 2
    assert now + opens * HOUR >= starts
    if closes is None:
        assert ends - now >= (FAR_H - 1) * HOUR
    else:
        assert (ends - now) / HOUR - 2 < closes <= (ends - now) / HOUR
    assert window(starts, ends, begun + timedelta(minutes=1)) == window(starts, ends, begun + timedelta(minutes=59))


def hold(catalog: Catalog, *rows: tuple[str, str, int, float]) -> None:
    """Leases of live runs: run, quota, units, and for how many seconds more."""
    run = {"plan_id": "p", "bucket": "b", "region": "us-east-1", "created_at": 0, "tasks": 1, "document": "{}"}
    with writing(catalog.engine) as connection:
        connection.execute(insert(runs), [run | {"name": name} for name in {row[0] for row in rows}])
        for name, quota, units, left in rows:
            key = {"platform": "sagemaker", "region": "us-east-1", "quota": quota}
            connection.execute(
                insert(leases), key | {"run": name, "units": units, "expires_at": NOW.timestamp() + left}
            )


def test_what_live_runs_hold_is_told_beside_the_quota(catalog: Catalog) -> None:
    hold(
        catalog,
        ("one", "ml.g5.xlarge/spot", 3, 60),
        ("two", "ml.g5.xlarge/spot", 4, 60),
        ("old", "ml.g5.xlarge/spot", 5, -1),
        ("two", "ml.g5.xlarge/on_demand", 2, 60),
    )
    market = catalog.survey(sweep(campaigns=["tokyo"]), now=NOW)
    assert market.quotas.values.tolist() == [["sagemaker", "us-east-1", "ml.g5.xlarge/spot", 12, 7]]
    assert market.leases["run"].tolist() == ["one", "two", "two"]


def test_a_quota_over_all_instance_types_of_a_region_is_one_of_those_that_a_lane_counts_under(
    catalog: Catalog, tmp_path: Path
) -> None:
    quotas = """
        region,instance_type,purchase,slots,observed_at
        us-east-1,*,*,30,2026-10-01
        us-east-1,*,*,20,2026-11-01
        us-east-1,*,spot,8,2026-11-01
        us-west-2,*,spot,7,2026-11-01
        us-east-1,*,on_demand,6,2026-11-01
        """
    catalog.load([write(tmp_path, "quotas", quotas)])
    hold(catalog, ("one", "*/spot", 3, 60), ("one", "*/*", 5, 60))
    market = catalog.survey(sweep("spot", campaigns=["tokyo"]), now=NOW)
    assert market.quotas.values.tolist() == [
        ["sagemaker", "us-east-1", "*/*", 20, 5],
        ["sagemaker", "us-east-1", "*/spot", 8, 3],
        ["sagemaker", "us-east-1", "ml.g5.xlarge/spot", 12, 0],
    ]
    market = catalog.survey(sweep(campaigns=["tokyo"]), now=NOW)
    assert list(market.quotas["quota"]) == ["*/*", "*/on_demand", "*/spot", "ml.g5.xlarge/spot"]


def test_a_training_plan_is_a_quota_of_its_own(committed: Catalog) -> None:
    market = committed.survey(sweep("committed", campaigns=["tokyo"]), now=NOW)
    assert market.quotas.values.tolist() == [["sagemaker", "us-east-1", f"{ARN}autumn", 4, 0]]


def test_a_quota_with_a_name_of_its_own_is_counted_in_its_units(database_url: str, tmp_path: Path) -> None:
    catalog = make_catalog(database_url, ec2=Machines())
    catalog.load([small(tmp_path / "small")])
    prices = """
        platform,region,instance_type,purchase,usd_per_hour,observed_at
        ec2,us-east-1,g5.xlarge,on_demand,1,2026-11-01
        ec2,us-east-1,g5.4xlarge,on_demand,3,2026-11-01
        """
    quotas = """
        platform,region,quota,units,observed_at
        ec2,us-east-1,vcpus,64,2026-11-01
        """
    catalog.load([write(tmp_path, "prices", prices), write(tmp_path, "quotas", quotas)])
    wanted = {"platforms": ["ec2"], "instance_types": ["g5.xlarge", "g5.4xlarge"], "purchases": ["on_demand"]}
    market = catalog.survey(make_sweep(data={"campaigns": ["tokyo"]}, where=wanted))
    assert market.quotas.values.tolist() == [["ec2", "us-east-1", "vcpus", 64, 0]]
    assert market.uses[["instance_type", "units"]].values.tolist() == [["g5.4xlarge", 16], ["g5.xlarge", 4]]
    with pytest.raises(InfeasibleError, match=r"g5\.xlarge is a type of ec2, and the sweep runs on sagemaker"):
        catalog.survey(make_sweep(data={"campaigns": ["tokyo"]}, where=wanted | {"platforms": ["sagemaker"]}))
    with pytest.raises(UsageError, match=r"no platform 'ec3' is installed \(did you mean 'ec2'\?\)"):
        catalog.survey(make_sweep(data={"campaigns": ["tokyo"]}, where=wanted | {"platforms": ["ec3"]}))


def test_spot_lanes_know_how_often_they_are_interrupted(catalog: Catalog, tmp_path: Path) -> None:
    rates = """
        platform,region,instance_type,per_hour,observed_at
        sagemaker,us-east-1,ml.g5.xlarge,0.5,2026-10-01
        sagemaker,us-east-1,ml.g5.xlarge,0.05,2026-11-01
        ec2,us-east-1,g5.xlarge,0.9,2026-11-02
        ec2,us-west-2,g5.xlarge,0.02,2026-11-01
        """
    catalog.load([write(tmp_path, "interruptions", rates)])
    rows = catalog.survey(sweep(), now=NOW).candidates.dropna(subset="interruptions_per_hour")
    facts = rows[["dataset", "region", "purchase", "interruptions_per_hour"]].values.tolist()
    assert facts == [
        ["alps@v2", "us-east-1", "spot", 0.05],
        ["coast@v1", "us-west-2", "spot", 0.02],
        ["tokyo@v1", "us-east-1", "spot", 0.05],
    ]


def test_managed_spot_without_a_price_is_as_much_cheaper_as_on_ec2(catalog: Catalog, tmp_path: Path) -> None:
    prices = """
        platform,region,instance_type,purchase,usd_per_hour,observed_at
        ec2,us-east-1,p4d.24xlarge,on_demand,32,2026-11-01
        ec2,us-east-1,p4d.24xlarge,spot,8,2026-11-01
        ec2,us-east-1,g5.xlarge,on_demand,1,2026-11-01
        ec2,us-east-1,g5.xlarge,spot,0.1,2026-11-01
        """
    catalog.load([write(tmp_path, "prices", prices)])
    types = ("ml.p4d.24xlarge", "ml.g5.xlarge")
    rows = catalog.survey(sweep("spot", types=types, campaigns=["tokyo"]), now=NOW).candidates
    facts = rows[["instance_type", "usd_per_hour", "on_demand_usd_per_hour"]].values.tolist()
    assert facts == [["ml.g5.xlarge", 0.5, 1.408], ["ml.p4d.24xlarge", 37.688 / 4, 37.688]]


def test_local_zones_and_missing_prices_are_no_place_to_train(catalog: Catalog, tmp_path: Path) -> None:
    wanted = sweep(types=("ml.g5.xlarge", "ml.p4d.24xlarge", "ml.free"), move_data="if_cheaper")
    before = catalog.survey(wanted.model_copy(update={"where": sweep(types=("ml.g5.xlarge", "ml.p4d.24xlarge")).where}))
    zone = "us-west-2-lax-1"
    prices = f"""
        platform,region,instance_type,purchase,usd_per_hour,observed_at
        sagemaker,{zone},ml.g5.xlarge,on_demand,0.01,2026-11-01
        sagemaker,{zone},ml.g5.xlarge,spot,0.001,2026-11-01
        sagemaker,us-east-1,ml.free,on_demand,0,2026-11-01
        sagemaker,us-east-1,ml.free,spot,0,2026-11-01
        ec2,us-east-1,p4d.24xlarge,on_demand,0,2026-11-01
        ec2,us-east-1,p4d.24xlarge,spot,1,2026-11-01
        """
    transfers = f"from_region,to_region,from_gb,usd_per_gb\nus-east-1,{zone},0,0.01\nus-west-2,{zone},0,0"
    catalog.load([write(tmp_path, "prices", prices), write(tmp_path, "transfer_prices", transfers)])
    assert catalog.survey(wanted).hash == before.hash
    with pytest.raises(InfeasibleError, match=r"lies in us-east-1, where ml\.free has no spot or on_demand price"):
        catalog.survey(sweep(types=("ml.free",), campaigns=["tokyo"]))
    with pytest.raises(InfeasibleError, match=r"p4d\.24xlarge is a type of ec2, and the sweep runs on sagemaker"):
        catalog.survey(sweep(types=("p4d.24xlarge",)))  # EC2's, and nothing is trained there
    with pytest.raises(InfeasibleError, match=f"no replica in an allowed Region \\({zone}\\)"):
        catalog.survey(make_sweep(where={"instance_types": ["ml.g5.xlarge"], "regions": [zone]}))


def test_the_past_is_part_of_a_market_and_of_its_hash(shared: Catalog) -> None:
    row = ("sagemaker", "us-east-1", "ml.g5.xlarge", "spot", 1, 10**9, '{"epochs":10}', 2.5)
    past = Past(table([row], HISTORY), table([("sagemaker", "us-east-1", "ml.g5.xlarge", 1, 0.4)], DISCOUNTS))
    with_past, without = shared.survey(sweep(), past=past), shared.survey(sweep())
    assert with_past.history.values.tolist() == [list(row)]
    assert with_past.discounts["usd_per_hour"].tolist() == [0.4]
    assert without.history.empty
    assert with_past.hash != without.hash


def test_a_catalog_without_prices_and_commitments_says_so(empty: Catalog, tmp_path: Path) -> None:
    empty.load([write(tmp_path, "campaigns", "campaign\nalps")])
    empty.load([write(tmp_path, "datasets", "campaign,version,bytes,created_at\nalps,v1,1,2026-01-01")])
    with pytest.raises(CatalogError, match="the catalog has no prices"):
        empty.survey(sweep("committed"))


def test_the_handbook_s_commitments_can_be_loaded(empty: Catalog, tmp_path: Path) -> None:
    handbook = Path(__file__, "..", "..", "..", "..", "docs", "catalog.md").resolve().read_text(encoding="utf-8")
    (example,) = re.findall(r"```csv\n(.*?)```", handbook, re.DOTALL)
    counts = empty.load([write(tmp_path, "commitments", example)]).counts
    assert counts["commitments"].inserted == 3
