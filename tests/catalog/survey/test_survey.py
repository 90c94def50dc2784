from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from math import inf
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import insert

from orchestrator.catalog.market import (
    CANDIDATES,
    DATASETS,
    DISCOUNTS,
    HISTORY,
    LEASES,
    POOLS,
    QUOTAS,
    TRANSFERS,
    USES,
    Market,
)
from orchestrator.db.tables import prices
from orchestrator.errors import CatalogError, InfeasibleError
from orchestrator.wire.manifest import ClassicLine
from tests.catalog.conftest import write
from tests.fixtures.sweeps import make_sweep

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from orchestrator.catalog.catalog import Catalog
    from orchestrator.spec.sweep import Sweep


def sweep(where: dict[str, Any] | None = None, **data: Any) -> Sweep:
    return make_sweep(data=data, where={"instance_types": ["ml.g5.xlarge"]} | (where or {}))


def lanes(market: Market) -> list[str]:
    """Every candidate as one word."""
    rows = market.candidates.itertuples()
    return [f"{row.dataset} {row.region} {row.instance_type.split('.')[1]} {row.purchase}" for row in rows]


def test_a_market_holds_each_newest_dataset_at_every_lane_beside_a_replica_of_it(shared: Catalog) -> None:
    market = shared.survey(sweep())
    assert list(market.datasets["dataset"]) == ["alps@v2", "coast@v1", "tokyo@v1"]
    assert lanes(market) == [
        "alps@v2 eu-central-1 g5 on_demand",
        "alps@v2 us-east-1 g5 on_demand",
        "alps@v2 us-east-1 g5 spot",
        "coast@v1 us-west-2 g5 on_demand",
        "coast@v1 us-west-2 g5 spot",
        "tokyo@v1 us-east-1 g5 on_demand",
        "tokyo@v1 us-east-1 g5 spot",
    ]


def test_a_lane_where_the_trainings_cannot_run_is_left_out_and_the_plan_says_why(shared: Catalog) -> None:
    asked = sweep().model_copy(update={"platforms": {"sagemaker": {"not_in": ["eu-central-1", "sa-east-1"]}}})
    market = shared.survey(asked)
    assert not any("eu-central-1" in lane for lane in lanes(market))
    assert market.cautions == ("left out: nothing runs in eu-central-1",)


def test_what_is_said_to_a_platform_that_the_sweep_leaves_out_is_told_to_follow_from_nothing(shared: Catalog) -> None:
    asked = sweep().model_copy(update={"platforms": {"eks": {"queue": "team"}, "ec2": {}}})
    assert shared.survey(asked).cautions == ("platforms.eks says nothing here: the sweep runs on sagemaker",)


def test_a_dataset_that_lies_only_where_the_trainings_cannot_run_says_so(shared: Catalog) -> None:
    asked = sweep().model_copy(update={"platforms": {"sagemaker": {"not_in": ["us-west-2"]}}})
    said = r"dataset coast@v1 lies in us-west-2, where it cannot be trained: nothing runs in us-west-2"
    with pytest.raises(InfeasibleError, match=said):
        shared.survey(asked)


def test_a_type_on_which_the_trainings_can_run_nowhere_is_refused_with_the_reason(shared: Catalog) -> None:
    regions = ["eu-central-1", "us-east-1", "us-west-2", "eu-west-1", "ap-northeast-1"]
    asked = sweep().model_copy(update={"platforms": {"sagemaker": {"not_in": regions}}})
    with pytest.raises(InfeasibleError, match="nothing runs in "):
        shared.survey(asked)


def test_a_candidate_has_the_newest_price_and_quota_and_the_replica_of_its_region(shared: Catalog) -> None:
    rows = shared.survey(sweep(campaigns=["alps"])).candidates.astype(object).to_dict("records")
    nothing = {"from_region": None, "transfer_usd_per_gb": None}
    assert [{name: None if value != value else value for name, value in row.items()} for row in rows[1:]] == [
        {
            "dataset": "alps@v2",
            "platform": "sagemaker",
            "region": "us-east-1",
            "instance_type": "ml.g5.xlarge",
            "purchase": purchase,
            "s3_uri": "s3://data-us-east-1/alps/v2/",
            "bytes": 119_000_000_000,
            "usd_per_hour": usd,
            "on_demand_usd_per_hour": 1.408,
            "interruptions_per_hour": None,
            "opens_h": 0.0,
            "closes_h": inf,
            "site": None,
        }
        | nothing
        for purchase, usd in (("on_demand", 1.408), ("spot", 0.5))
    ]


def test_a_market_says_what_its_lanes_count_under_and_how_much_there_is_of_what_is_known(shared: Catalog) -> None:
    market = shared.survey(sweep({"purchases": ["spot"]}, campaigns=["alps"]))
    assert market.quotas.values.tolist() == [["sagemaker", "us-east-1", "ml.g5.xlarge/spot", 12, 0]]
    lane = ["sagemaker", "us-east-1", "ml.g5.xlarge", "spot", ""]
    assert market.uses.values.tolist() == [[*lane, name, 1] for name in ("*/*", "*/spot", "ml.g5.xlarge/spot")]


def test_a_market_has_its_columns_and_types_also_where_it_has_no_rows(shared: Catalog) -> None:
    market = shared.survey(sweep(campaigns=["tokyo"], where={"purchases": ["on_demand"]}))
    assert [tuple(table.columns) for table in market.tables] == [
        DATASETS,
        CANDIDATES,
        TRANSFERS,
        QUOTAS,
        USES,
        POOLS,
        LEASES,
        HISTORY,
        DISCOUNTS,
    ]
    numbers = ("bytes", "usd_per_hour", "on_demand_usd_per_hour", "opens_h", "transfer_usd_per_gb")
    assert [str(market.candidates[name].dtype) for name in numbers] == ["int64"] + 4 * ["float64"]
    assert [str(market.transfers[name].dtype) for name in ("from_gb", "usd_per_gb")] == 2 * ["float64"]
    assert market.transfers.empty


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"regions": ["us-east-1"]}, ["alps@v2 us-east-1 g5 on_demand", "alps@v2 us-east-1 g5 spot"]),
        ({"purchases": ["spot"]}, ["alps@v2 us-east-1 g5 spot"]),
        (
            {
                "instance_types": ["ml.p4d.24xlarge", "ml.g5.xlarge"],
                "purchases": ["on_demand"],
                "regions": ["us-east-1"],
            },
            ["alps@v2 us-east-1 g5 on_demand", "alps@v2 us-east-1 p4d on_demand"],
        ),
    ],
)
def test_only_lanes_that_the_sweep_allows_are_candidates(
    shared: Catalog, where: dict[str, Any], expected: list[str]
) -> None:
    assert lanes(shared.survey(sweep(where, campaigns=["alps"]))) == expected


def test_a_lane_bought_otherwise_still_knows_its_on_demand_price(shared: Catalog) -> None:
    market = shared.survey(sweep({"purchases": ["spot"]}, campaigns=["tokyo"]))
    assert list(market.candidates["on_demand_usd_per_hour"]) == [1.408]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"campaigns": ["tokyo", "coast"]}, ["coast@v1", "tokyo@v1"]),
        ({"tags": ["night"]}, ["alps@v2", "tokyo@v1"]),
        ({"tags": ["night", "rain"]}, ["tokyo@v1"]),
        ({"recorded_from": "2026-01-15"}, ["alps@v2", "coast@v1"]),
        ({"recorded_from": "2026-01-21"}, ["coast@v1"]),
        ({"recorded_to": "2026-01-10"}, ["alps@v2"]),
        ({"version": "v1"}, ["alps@v1", "coast@v1", "tokyo@v1"]),
        ({"version": "v2"}, ["alps@v2"]),
    ],
)
def test_the_sweep_selects_by_name_tags_days_and_version(
    shared: Catalog, data: dict[str, Any], expected: list[str]
) -> None:
    assert list(shared.survey(sweep(**data)).datasets["dataset"]) == expected


@pytest.mark.parametrize(
    ("data", "where", "message"),
    [
        ({"campaigns": ["alp"]}, {}, "no campaign is called 'alp' (did you mean 'alps'?)"),
        ({"tags": ["nigth"]}, {}, "none of the 3 campaigns asked for has the tag 'nigth' (did you mean 'night'?)"),
        ({"tags": ["day", "night"]}, {}, "none of the 3 campaigns asked for has all of the tags day, night"),
        (
            {"recorded_from": "2026-05-01"},
            {},
            "none of the 3 campaigns asked for was recorded from 2026-05-01 "
            "(they were recorded 2026-01-10 to 2026-03-31)",
        ),
        (
            {"campaigns": ["tokyo"], "recorded_from": "2026-05-01", "recorded_to": "2026-05-02"},
            {},
            "the one campaign asked for was not recorded from 2026-05-01 to 2026-05-02 "
            "(its days are not in the catalog)",
        ),
        ({"version": "v3"}, {}, "no dataset of alps, coast, tokyo has version 'v3' (choose from: v1, v2)"),
        ({"campaigns": ["coast"], "version": "v2"}, {}, "no dataset of coast has version 'v2' (choose from: v1)"),
        (
            {},
            {"instance_types": ["ml.g5.xlarge", "ml.g5.xlrge"]},
            "where.instance_types.1: no price of instance type 'ml.g5.xlrge' is known on sagemaker "
            "(did you mean 'ml.g5.xlarge'?)",
        ),
        (
            {"campaigns": ["coast"]},
            {"regions": ["us-east-1", "eu-central-1"]},
            "dataset coast@v1 has no replica in an allowed Region (us-east-1, eu-central-1) "
            "(it lies in us-west-2: allow one of these, or put a replica there)",
        ),
        (
            {"campaigns": ["alps", "coast"]},
            {"instance_types": ["ml.p4d.24xlarge"], "regions": ["eu-central-1", "us-west-2"]},
            "dataset alps@v2 lies in eu-central-1, where ml.p4d.24xlarge has no spot or on_demand price; "
            "nor can 1 more dataset be trained (it has prices in us-east-1)",
        ),
        (
            {"campaigns": ["coast"]},
            {"instance_types": ["ml.p4d.24xlarge", "ml.g5.xlarge"], "purchases": ["committed"]},
            "dataset coast@v1 lies in us-west-2, where ml.p4d.24xlarge, ml.g5.xlarge have no committed price "
            "(they have on_demand and spot prices there: add these to purchases)",
        ),
    ],
)
def test_an_empty_market_is_explained(
    small_sqlite: Catalog, data: dict[str, Any], where: dict[str, Any], message: str
) -> None:
    with pytest.raises((CatalogError, InfeasibleError)) as error:
        small_sqlite.survey(sweep(where, **data))
    assert str(error.value) == message


def test_a_type_or_a_catalog_of_another_platform_is_told_as_such(empty: Catalog, tmp_path: Path) -> None:
    """The prices of one platform are no prices of another, however alike the names of their types are."""
    empty.load([write(tmp_path, "campaigns", "campaign\nalps")])
    empty.load([write(tmp_path, "datasets", "campaign,version,bytes,created_at\nalps,v1,1,2026-01-01")])
    since = datetime(2026, 1, 1, tzinfo=timezone.utc)
    lane = {"region": "us-east-1", "purchase": "on_demand"}
    price = insert(prices).values(**lane, usd_per_hour=1.0, observed_at=since, source="test")
    with empty.engine.begin() as connection:
        connection.execute(price.values(platform="ec2", instance_type="g5.xlarge"))
    with pytest.raises(CatalogError, match="no prices of sagemaker, only of ec2") as nothing:
        empty.survey(sweep())
    assert nothing.value.hint == "`sweep catalog refresh` brings them from AWS"
    with empty.engine.begin() as connection:
        connection.execute(price.values(platform="sagemaker", instance_type="ml.g5.xlarge"))
    with pytest.raises(InfeasibleError) as other:
        empty.survey(sweep({"instance_types": ["g5.xlarge"]}))
    assert other.value.message == "g5.xlarge is a type of ec2, and the sweep runs on sagemaker"
    assert other.value.hint == "name ec2 under `where.platforms`; did you mean 'ml.g5.xlarge'?"


def test_an_empty_catalog_says_how_to_fill_it(empty: Catalog, tmp_path: Path) -> None:
    price = "us-east-1,ml.g5.xlarge,on_demand,1,2026-01-01"
    for message, kind, text in [
        ("the catalog has no campaigns", "campaigns", "campaign\nalps"),
        ("no dataset of alps is in", "datasets", "campaign,version,bytes,created_at\nalps,v1,1,2026-01-01"),
        ("the catalog has no prices", "prices", f"region,instance_type,purchase,usd_per_hour,observed_at\n{price}"),
        ("alps@v1 has no replica", "replicas", "dataset,region,s3_uri\nalps@v1,us-east-1,s3://bucket/alps"),
    ]:
        with pytest.raises((CatalogError, InfeasibleError), match=message) as error:
            empty.survey(sweep())
        assert error.value.hint.startswith("sweep catalog load")
        empty.load([write(tmp_path, kind, text)])
    assert lanes(empty.survey(sweep())) == ["alps@v1 us-east-1 g5 on_demand"]


def test_one_dataset_without_a_place_is_enough_to_refuse_a_sweep(shared: Catalog) -> None:
    with pytest.raises(InfeasibleError, match="dataset coast@v1 has no replica in an allowed Region"):
        shared.survey(sweep({"regions": ["us-east-1"]}))


def test_the_same_rows_make_the_same_market_on_both_databases(small_sqlite: Catalog, small_postgresql: Catalog) -> None:
    for wanted in (sweep(), sweep({"purchases": ["spot"]}, tags=["night"])):
        assert small_sqlite.survey(wanted).hash == small_postgresql.survey(wanted).hash
    lines = [ClassicLine("us-west-2", "s3://data/b"), ClassicLine("us-east-1", "s3://data/ä")]
    assert small_sqlite.survey(sweep(), lines).hash == small_postgresql.survey(sweep(), lines).hash


def test_a_classic_job_array_is_surveyed_without_a_trace(shared: Catalog) -> None:
    lines = [
        ClassicLine("us-west-2", "s3://lab/b/"),
        ClassicLine("us-east-1", "s3://lab/a/"),
        ClassicLine("us-east-1", "s3://lab/b/"),
    ]
    before = shared.totals()
    market = shared.survey(sweep({"purchases": ["spot"]}, campaigns=["not", "looked at"]), lines)
    assert list(market.datasets["dataset"]) == ["s3://lab/b/", "s3://lab/a/"]
    assert lanes(market) == [
        "s3://lab/b/ us-east-1 g5 spot",
        "s3://lab/b/ us-west-2 g5 spot",
        "s3://lab/a/ us-east-1 g5 spot",
    ]
    assert list(market.candidates["s3_uri"]) == ["s3://lab/b/", "s3://lab/b/", "s3://lab/a/"]
    assert shared.totals() == before
    assert len(shared.survey(sweep()).datasets) == 3


def test_a_line_that_is_there_twice_is_two_tasks_and_columns_make_a_task_of_their_own(shared: Catalog) -> None:
    lines = [
        ClassicLine("us-east-1", "s3://lab/a/"),
        ClassicLine("us-east-1", "s3://lab/a/", {"lr": 0.1}),
        ClassicLine("us-east-1", "s3://lab/a/"),
        ClassicLine("us-east-1", "s3://lab/a/", {"lr": 0.1}),
        ClassicLine("us-west-2", "s3://lab/a/", {"lr": 0.1}),
    ]
    market = shared.survey(sweep({"purchases": ["spot"]}), lines)
    assert list(market.datasets["dataset"]) == ["s3://lab/a/", "s3://lab/a/#2", "s3://lab/a/#3", "s3://lab/a/#4"]
    assert lanes(market) == [
        "s3://lab/a/ us-east-1 g5 spot",
        "s3://lab/a/#2 us-east-1 g5 spot",
        "s3://lab/a/#2 us-west-2 g5 spot",
        "s3://lab/a/#3 us-east-1 g5 spot",
        "s3://lab/a/#4 us-east-1 g5 spot",
    ]
    assert set(market.candidates["s3_uri"]) == {"s3://lab/a/"}
    assert {name: line.point for name, line in market.lines.items()} == {
        "s3://lab/a/#2": {"lr": 0.1},
        "s3://lab/a/#4": {"lr": 0.1},
    }


def test_a_line_that_names_an_instance_type_may_run_on_no_other(shared: Catalog) -> None:
    types = {"instance_types": ["ml.g5.xlarge", "ml.p4d.24xlarge"], "purchases": ["on_demand"]}
    any_type, large = ClassicLine("us-east-1", "s3://lab/a/"), "ml.p4d.24xlarge"
    both = ["s3://lab/a/ us-east-1 g5 on_demand", "s3://lab/a/ us-east-1 p4d on_demand"]
    assert lanes(shared.survey(sweep(types), [any_type])) == both
    assert lanes(shared.survey(sweep(types), [replace(any_type, instance_type=large)])) == both[1:]
    there = ClassicLine("us-west-2", "s3://lab/a/", instance_type=large)
    with pytest.raises(InfeasibleError, match=r"lies in us-west-2, where ml\.p4d\.24xlarge has no on_demand price"):
        shared.survey(sweep(types), [there])


def test_columns_change_the_market_and_two_columns_alone_do_not(shared: Catalog) -> None:
    plain, other = ClassicLine("us-east-1", "s3://lab/a/"), ClassicLine("us-east-1", "s3://lab/a/", {"lr": 1})
    assert shared.survey(sweep(), [plain]).hash != shared.survey(sweep(), [other]).hash
    assert shared.survey(sweep(), [other]).hash != shared.survey(sweep(), [replace(other, point={"lr": 2})]).hash


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "the job array has no lines"),
        (
            [ClassicLine("ap-south-1", "s3://lab/a/")],
            "dataset s3://lab/a/ lies in ap-south-1, where ml.g5.xlarge has no",
        ),
    ],
)
def test_a_classic_job_array_that_can_run_nowhere_is_refused(
    small_sqlite: Catalog, lines: Sequence[ClassicLine], message: str
) -> None:
    with pytest.raises((CatalogError, InfeasibleError), match=message):
        small_sqlite.survey(sweep(), lines)


def test_where_data_may_move_each_other_region_is_served_from_any_source(shared: Catalog) -> None:
    market = shared.survey(sweep({"purchases": ["on_demand"]}, campaigns=["alps"], move_data="if_cheaper"))
    rows = market.candidates[["region", "s3_uri", "from_region", "transfer_usd_per_gb"]].astype(object)
    assert rows.where(rows.notna(), None).values.tolist() == [
        ["eu-central-1", "s3://data-eu-central-1/alps/v2/", None, None],
        ["us-east-1", "s3://data-us-east-1/alps/v2/", None, None],
        ["us-west-2", "s3://data-eu-central-1/alps/v2/", "eu-central-1", 0.02],
        ["us-west-2", "s3://data-us-east-1/alps/v2/", "us-east-1", 0.01],  # 119 GB reach the second tier
    ]
    assert market.transfers.values.tolist() == [
        ["eu-central-1", "us-west-2", 0.0, 0.02],
        ["us-east-1", "us-west-2", 0.0, 0.02],
        ["us-east-1", "us-west-2", 100.0, 0.01],
    ]
    assert market.storage.values.tolist() == [["us-west-2", 0.0, 0.025], ["us-west-2", 50000.0, 0.024]]
    assert shared.survey(sweep(campaigns=["alps"])).storage.empty


def test_where_checkpoints_are_kept_the_prices_between_all_regions_are_known(shared: Catalog) -> None:
    plain = sweep({"purchases": ["on_demand"]}, campaigns=["alps"])
    saves = make_sweep(
        data={"campaigns": ["alps"]},
        where={"instance_types": ["ml.g5.xlarge"], "purchases": ["on_demand"]},
        train__checkpoints={"every": "10m"},
    )
    assert shared.survey(plain).transfers.empty
    pairs = [tuple(row) for row in shared.survey(saves).transfers[["from_region", "to_region"]].values.tolist()]
    regions = set(shared.survey(saves).candidates["region"])
    assert pairs
    assert all(source != target and {source, target} <= regions for source, target in pairs)
