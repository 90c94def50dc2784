from __future__ import annotations

import sys
from datetime import date, datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.catalog.files.incoming import Counts
from orchestrator.catalog.files.kinds import KINDS
from orchestrator.errors import CatalogError
from tests.catalog.conftest import FILES, small, write
from tests.catalog.platforms import make_catalog
from tests.fixtures.examples import examples

if TYPE_CHECKING:
    from orchestrator.catalog.catalog import Catalog


HEADS = {
    "campaigns": "campaign,recorded_to,description",
    "datasets": "campaign,version,bytes,created_at",
    "replicas": "dataset,region,s3_uri",
    "prices": "region,instance_type,purchase,usd_per_hour,observed_at",
    "quotas": "region,instance_type,purchase,slots,observed_at",
    "interruptions": "region,instance_type,per_hour,observed_at",
    "commitments": "commitment,kind,region,instance_type,slots,usd_per_hour,discount,starts_at,ends_at,arn",
}
TIMES = "2026-11-01,2026-12-01"
ARN = "arn:aws:sagemaker:us-east-1:111122223333:training-plan/november"


def refused(catalog: Catalog, kind: str, text: str, folder: Path) -> str:
    """What loading this file says, its path cut off; the file has loaded nothing."""
    before = catalog.totals()
    file = write(folder, kind, text)
    with pytest.raises(CatalogError) as error:
        catalog.load([file])
    assert catalog.totals() == before
    return str(error.value).replace(f"{folder}/", "")


def test_a_folder_is_loaded_in_the_order_in_which_its_files_need_each_other(catalog: Catalog) -> None:
    assert catalog.totals() == {kind: len(text.split("\n")) - 3 for kind, text in FILES.items()}


def test_loading_twice_changes_nothing(empty: Catalog, tmp_path: Path) -> None:
    folder = small(tmp_path / "small")
    first, rows = empty.load([folder]), {kind: empty.show(kind) for kind in KINDS}
    second = empty.load([folder])
    assert first.changed
    assert not second.changed
    assert {kind: empty.show(kind) for kind in KINDS} == rows
    assert {name: counts.unchanged for name, counts in second.counts.items()} == {
        name: counts.inserted for name, counts in first.counts.items()
    }


def test_the_report_tells_new_changed_and_known_rows_apart(catalog: Catalog, tmp_path: Path) -> None:
    file = write(
        tmp_path,
        "datasets",
        """
        campaign,version,bytes,created_at
        alps,v1,100000000000,2026-02-01
        alps,v2,7,2026-05-01T10:00:00Z
        alps,v3,7,2026-06-01
        """,
    )
    assert catalog.load([file]).counts == {"datasets": Counts(inserted=1, updated=1, unchanged=1)}


def test_values_come_out_as_they_went_in(catalog: Catalog) -> None:
    assert catalog.show("campaigns")[0] == {
        "campaign": "alps",
        "recorded_from": date(2026, 1, 10),
        "recorded_to": date(2026, 1, 20),
        "description": "passes and tunnels",
        "tags": ["night", "snow"],
    }
    assert catalog.show("campaigns")[2]["description"] == "narrow, crowded streets"
    assert catalog.show("datasets")[1]["created_at"] == datetime(2026, 5, 1, 10, tzinfo=timezone.utc)
    assert catalog.show("quotas")[0] | {"observed_at": None} == {
        "platform": "sagemaker",
        "region": "us-east-1",
        "quota": "ml.g5.xlarge/spot",
        "units": 4,
        "code": None,
        "source": "quotas.csv",
        "observed_at": None,
    }


def test_a_quota_is_known_by_its_name_whichever_way_it_was_written(empty: Catalog, tmp_path: Path) -> None:
    by_name = """
        region,quota,units,observed_at
        us-east-1,ml.g5.xlarge/spot,7,2026-10-01
        us-east-1,L-3819A6DF,64,2026-10-01
        """
    by_type = f"{HEADS['quotas']}\nus-east-1,ml.g5.xlarge,spot,8,2026-10-01"
    assert empty.load([write(tmp_path, "quotas", by_name)]).counts == {"quotas": Counts(inserted=2)}
    assert empty.load([write(tmp_path, "quotas", by_type)]).counts == {"quotas": Counts(updated=1)}
    assert [(row["quota"], row["units"]) for row in empty.show("quotas")] == [
        ("L-3819A6DF", 64),
        ("ml.g5.xlarge/spot", 8),
    ]


@pytest.mark.parametrize(
    ("head", "row", "message"),
    [
        ("quota,units,slots", "L-1,4,4", "slots: is not what a quota by name has: quota, units"),
        ("instance_type,purchase,units", "ml.x,spot,4", "units: is not what a quota by instance type has"),
        ("quota,slots", "L-1,4", "slots: is not what a quota by name has: quota, units"),
        ("quota,units", "L-1,", "units: is empty"),
        ("instance_type,purchase,slots", "ml.x,,4", "purchase: is empty"),
    ],
)
def test_a_quota_is_written_in_one_of_two_ways(
    small_sqlite: Catalog, tmp_path: Path, head: str, row: str, message: str
) -> None:
    text = f"region,observed_at,{head}\nus-east-1,2026-01-01,{row}"
    assert refused(small_sqlite, "quotas", text, tmp_path).startswith(f"quotas.csv:2:{message}")


@pytest.mark.parametrize(
    ("kind", "row", "message"),
    [
        ("prices", "sagmaker,us-east-1,ml.x,on_demand,1,2026-01-01", "platform: there is no platform 'sagmaker'"),
        ("prices", "sagemaker,us-east-1,c5.xlarge,on_demand,1,2026-01-01", "instance_type: there is no c5.xlarge"),
        ("quotas", "ec2,us-east-1,c5.xlarge,spot,1,2026-01-01", "platform: there is no platform 'ec2'"),
        ("quotas", "sagemaker,us-east-1,c5.xlarge,spot,1,2026-01-01", "instance_type: there is no c5.xlarge"),
        ("interruptions", "sagemaker,us-east-1,c5.xlarge,0.1,2026-01-01", "instance_type: there is no c5.xlarge"),
        ("commitments", f"n,savings_plan,us-east-1,c5.xlarge,,10,0.3,{TIMES},", "instance_type: there is no c5.xlarge"),
    ],
)
def test_a_lane_that_its_platform_has_not_is_refused_where_it_is_written(
    small_sqlite: Catalog, tmp_path: Path, kind: str, row: str, message: str
) -> None:
    head = HEADS[kind] if kind == "commitments" else f"platform,{HEADS[kind]}"
    assert refused(small_sqlite, kind, f"{head}\n{row}", tmp_path).startswith(f"{kind}.csv:2:{message}")


def test_columns_that_a_file_lacks_keep_what_the_catalog_knows(catalog: Catalog, tmp_path: Path) -> None:
    before = catalog.show("campaigns")
    report = catalog.load([write(tmp_path, "campaigns", "campaign,recorded_to\nalps,2026-01-21")])
    assert report.counts == {"campaigns": Counts(updated=1)}
    assert catalog.show("campaigns") == [before[0] | {"recorded_to": date(2026, 1, 21)}, *before[1:]]


def test_a_campaign_has_the_tags_of_the_newest_file(catalog: Catalog, tmp_path: Path) -> None:
    report = catalog.load([write(tmp_path, "campaigns", "campaign,tags\nalps,snow;fog")])
    assert report.counts == {
        "campaigns": Counts(unchanged=1),
        "campaign_tags": Counts(inserted=1, unchanged=1, removed=1),
    }
    assert [row["tags"] for row in catalog.show("campaigns")] == [["fog", "snow"], ["day"], ["night", "rain"]]


def test_nothing_of_a_call_is_loaded_when_one_file_is_wrong(empty: Catalog, tmp_path: Path) -> None:
    folder = small(tmp_path)
    write(folder, "transfer_prices", "from_region,to_region,usd_per_gb\nus-east-1,us-west-2,free")
    with pytest.raises(CatalogError, match=r"transfer_prices\.csv:2:usd_per_gb: 'free' is not a number"):
        empty.load([folder])
    assert set(empty.totals().values()) == {0}


def test_a_spot_price_may_stand_in_another_file_than_the_on_demand_price(empty: Catalog, tmp_path: Path) -> None:
    spot = write(tmp_path, "spot", f"{HEADS['prices']}\nus-east-1,ml.x,spot,0.5,2026-01-01")
    full = write(tmp_path, "on-demand", f"{HEADS['prices']}\nus-east-1,ml.x,on_demand,1,2026-01-01")
    assert empty.load([spot, full], kind="prices").counts == {"prices": Counts(inserted=2)}


def test_a_later_file_of_a_call_has_the_last_word(empty: Catalog, tmp_path: Path) -> None:
    first = write(tmp_path, "first", f"{HEADS['prices']}\nus-east-1,ml.x,on_demand,1,2026-01-01")
    second = write(tmp_path, "second", f"{HEADS['prices']}\nus-east-1,ml.x,on_demand,2,2026-01-01")
    assert empty.load([first, second], kind="prices").counts == {"prices": Counts(inserted=1, updated=1)}
    assert [(row["usd_per_hour"], row["source"]) for row in empty.show("prices")] == [(2.0, "second.csv")]
    assert not empty.load([write(tmp_path, "third", second.read_text())], kind="prices").changed


def test_a_file_by_another_name_is_loaded_as_the_kind_that_is_given(catalog: Catalog, tmp_path: Path) -> None:
    file = write(tmp_path, "export-2026-11-20", "campaign\narctic")
    assert catalog.load([file], kind="campaigns").counts == {"campaigns": Counts(inserted=1)}


@pytest.mark.parametrize(
    ("kind", "row", "message"),
    [
        ("campaigns", "a@b,,", "campaign: 'a@b' may not contain @"),
        ("campaigns", ",2026-01-01,", "campaign: is empty"),
        ("campaigns", "x,1/2/2026,", "recorded_to: '1/2/2026' is not a date; write 2026-11-20"),
        ("campaigns", "x,,a\tb", r"description: 'a\tb' contains control characters"),
        ("datasets", "alps,v9,-1,2026-01-01", "bytes: -1 is negative"),
        ("datasets", "alps,v9,1.5,2026-01-01", "bytes: '1.5' is not a whole number"),
        ("datasets", "alps,v9,1e30,2026-01-01", "bytes: '1e30' is too large"),
        ("datasets", "alps,v9,1,soon", "created_at: 'soon' is not a time; write 2026-11-20T18:30:00Z"),
        ("datasets", "alp,v9,1,2026-01-01", "campaign: unknown campaign 'alp' (did you mean 'alps'?)"),
        ("replicas", "alps@v3,us-east-1,s3://b-1/x", "dataset: unknown dataset 'alps@v3' (did you mean 'alps@v2'?)"),
        ("replicas", "alps,us-east-1,s3://b-1/x", "dataset: 'alps' is not a dataset; write campaign@version"),
        ("replicas", "alps@v1,us-east,s3://b-1/x", "region: 'us-east' is not a Region; write one like us-east-1"),
        ("replicas", "alps@v1,us-west-2-lax-1,s3://b-1/x", "region: 'us-west-2-lax-1' is a local zone, not a Region"),
        ("replicas", "alps@v1,us-east-1,/data/x", "s3_uri: '/data/x' is not an S3 URI; write s3://bucket/prefix/"),
        (
            "replicas",
            "alps@v1,us-east-1,s3://A_b/x",
            "s3_uri: 's3://A_b/x' is not an S3 URI; write s3://bucket/prefix/",
        ),
        ("quotas", "us-east-1,ml.x,sport,1,2026-01-01", "purchase: 'sport' is no way to buy; did you mean 'spot'?"),
        ("quotas", "us-east-1,ml.x,spot,many,2026-01-01", "slots: 'many' is not a whole number"),
        ("quotas", "us-east-1,ml.x,spot,3000000000,2026-01-01", "slots: '3000000000' is too large"),
        (
            "quotas",
            "us-east-1,ml.x,*,1,2026-01-01",
            "purchase: '*' is for a quota over all instance types; write one row a purchase",
        ),
        (
            "quotas",
            "us-east-1,ml.x,committed,1,2026-01-01",
            "purchase: 'committed' has neither a price nor a quota; write a training plan into commitments",
        ),
        (
            "interruptions",
            "us-east-1,*,0.1,2026-01-01",
            "instance_type: '*' is no instance type; write one like ml.g5.xlarge",
        ),
        ("interruptions", "us-east-1,ml.x,-1,2026-01-01", "per_hour: -1 is negative"),
        (
            "commitments",
            f"n,reserved,us-east-1,ml.x,4,,,{TIMES},{ARN}",
            "kind: 'reserved' is no kind of commitment; did you mean 'reservation'?",
        ),
        (
            "commitments",
            f"n,training_plan,us-east-1,ml.x,,,,{TIMES},{ARN}",
            "slots: is empty, but a training plan has one",
        ),
        ("commitments", f"n,training_plan,us-east-1,ml.x,4,,,{TIMES},", "arn: is empty, but a training plan has one"),
        (
            "commitments",
            f"n,training_plan,us-east-1,ml.x,4,,,2026-11-01,,{ARN}",
            "ends_at: is empty, but a training plan has one",
        ),
        (
            "commitments",
            f"n,reservation,us-east-1,ml.x,,,,2026-11-01,,{ARN}",
            "slots: is empty, but a reservation has one",
        ),
        (
            "commitments",
            f"n,reservation,us-east-1,ml.x,4,,0.3,2026-11-01,,{ARN}",
            "discount: is a savings plan's, not a reservation's; leave it empty",
        ),
        (
            "commitments",
            f"n,reservation,us-east-1,ml.x,4,,,2026-12-01,2026-11-01,{ARN}",
            "ends_at: 2026-11-01T00:00 is not after starts_at",
        ),
        (
            "commitments",
            f"n,training_plan,us-east-1,ml.x,4,,,{TIMES},november",
            "arn: 'november' is not an ARN; write arn:aws:SERVICE:REGION:ACCOUNT:NAME, as AWS tells it",
        ),
        (
            "commitments",
            f"n,training_plan,us-east-1,ml.x,4,1,,{TIMES},{ARN}",
            "usd_per_hour: is a savings plan's, not a training plan's; leave it empty",
        ),
        ("commitments", f"n,training_plan,us-east-2,ml.x,4,,,{TIMES},{ARN}", "arn: is of us-east-1, not of us-east-2"),
        (
            "commitments",
            f"n,training_plan,*,ml.x,4,,,{TIMES},{ARN}",
            "region: '*' is for savings plans; a training plan has one region",
        ),
        (
            "commitments",
            f"n,training_plan,us-east-1,*,4,,,{TIMES},{ARN}",
            "instance_type: '*' is for savings plans; a training plan has one instance_type",
        ),
        ("commitments", f"n,savings_plan,*,*,,10,,{TIMES},", "discount: is empty, but a savings plan has one"),
        ("commitments", f"n,savings_plan,*,*,,10,30,{TIMES},", "discount: 30 is above 1; write 0.3 for 30 %"),
        (
            "commitments",
            "n,savings_plan,*,*,,10,0.3,2026-11-01,2026-11-01,",
            "ends_at: 2026-11-01T00:00 is not after starts_at",
        ),
        (
            "prices",
            "us-east-1,*,on_demand,1,2026-01-01",
            "instance_type: '*' is no instance type; write one like ml.g5.xlarge",
        ),
        (
            "prices",
            "us-east-1,ml.x,committed,1,2026-01-01",
            "purchase: 'committed' has neither a price nor a quota; write a training plan into commitments",
        ),
        ("prices", "us-east-1,ml.x,on_demand,,2026-01-01", "usd_per_hour: is empty"),
        ("prices", "us-east-1,ml.x,on_demand,-0.5,2026-01-01", "usd_per_hour: -0.5 is negative"),
        ("prices", "us-east-1,ml.x,on_demand,1e308,2026-01-01", "usd_per_hour: 1e+308 is too large"),
        ("prices", "us-east-1,ml.x,on_demand,nan,2026-01-01", "usd_per_hour: 'nan' is not a finite number"),
        (
            "prices",
            "us-east-1,ml.x,spot,0.5,2026-01-01",
            "purchase: ml.x in us-east-1 has a spot price and no on_demand price (add a row with its on_demand price)",
        ),
    ],
)
def test_a_wrong_cell_is_named_with_its_line_and_column(
    small_sqlite: Catalog, tmp_path: Path, kind: str, row: str, message: str
) -> None:
    assert refused(small_sqlite, kind, f"{HEADS[kind]}\n{row}", tmp_path) == f"{kind}.csv:2:{message}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ": the file is empty; its first line must name its columns"),
        ("campaign,tag", ": campaigns have no column 'tag' (did you mean 'tags'?)"),
        ("tags", ": column 'campaign' is missing"),
        ("campaign,campaign", ": two columns are called 'campaign'"),
        ("campaign,tags\nx,y\n\nz", ":4: 1 values where the first line names 2"),
        ('campaign,tags\n"x\ny",z\nw', ":4: 1 values where the first line names 2"),
        ('campaign\n"x', ": not CSV: unexpected end of data"),
        ("campaign\nx\ny\nx", ":4: the same campaign as in line 2"),
    ],
)
def test_a_file_that_is_no_table_of_its_kind_is_refused(
    small_sqlite: Catalog, tmp_path: Path, text: str, message: str
) -> None:
    assert refused(small_sqlite, "campaigns", text, tmp_path) == f"campaigns.csv{message}"


def test_what_only_the_database_can_see_is_refused_by_both(catalog: Catalog, tmp_path: Path) -> None:
    replica = f"{HEADS['replicas']}\nalps@v1,us-east-1,s3://b-1/x\nalps@v9,us-east-1,s3://b-1/x"
    assert refused(catalog, "replicas", replica, tmp_path).startswith("replicas.csv:3:dataset: unknown dataset")
    price = "us-east-1,ml.x,spot,1,2026-01-01"
    assert refused(catalog, "prices", f"{HEADS['prices']}\n{price}\n{price}", tmp_path) == (
        "prices.csv:3: the same instance_type, region, purchase, platform, observed_at as in line 2"
    )
    assert "no on_demand price" in refused(catalog, "prices", f"{HEADS['prices']}\n{price}", tmp_path)


def test_the_first_wrong_line_is_named(small_sqlite: Catalog, tmp_path: Path) -> None:
    cells = "\n".join(f"us-east-1,us-west-2,{n},{'x' if n in (30_000, 30_001, 50_000) else 1}" for n in range(60_000))
    message = refused(small_sqlite, "transfer_prices", f"from_region,to_region,from_gb,usd_per_gb\n{cells}", tmp_path)
    assert message == "transfer_prices.csv:30002:usd_per_gb: 'x' is not a number"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("prizes.csv", "prizes.csv: 'prizes' is no kind of catalog file (did you mean 'prices'?)"),
        ("prices.xlsx", "prices.xlsx: neither .csv nor .parquet"),
        ("nothing.csv", "nothing.csv: no such file"),
    ],
)
def test_a_file_that_cannot_be_meant_is_refused(
    small_sqlite: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if name != "nothing.csv":
        Path(name).touch()
    with pytest.raises(CatalogError) as error:
        small_sqlite.load([name])
    assert str(error.value) == message


def test_unreadable_files_are_refused(small_sqlite: Catalog, tmp_path: Path) -> None:
    (tmp_path / "campaigns.csv").write_bytes(b"campaign\nM\xfcnchen\n")
    with pytest.raises(CatalogError, match="the file is not UTF-8 text"):
        small_sqlite.load([tmp_path / "campaigns.csv"])
    (tmp_path / "campaigns.parquet").write_bytes(b"campaign\nalps\n")
    with pytest.raises(CatalogError, match="not a Parquet file"):
        small_sqlite.load([tmp_path / "campaigns.parquet"])
    with pytest.raises(CatalogError, match="no such file"):
        small_sqlite.load([tmp_path / "prices.csv"], kind="prices")
    (tmp_path / "none").mkdir()
    with pytest.raises(CatalogError, match="no catalog files in this folder"):
        small_sqlite.load([tmp_path / "none"])
    with pytest.raises(CatalogError, match="unknown kind 'price'"):
        small_sqlite.load([tmp_path / "campaigns.csv"], kind="price")


def test_a_spreadsheets_byte_order_mark_is_not_part_of_a_name(catalog: Catalog, tmp_path: Path) -> None:
    (tmp_path / "campaigns.csv").write_text("campaign\r\narctic\r\n", encoding="utf-8-sig")
    assert catalog.load([tmp_path / "campaigns.csv"]).counts == {"campaigns": Counts(inserted=1)}


def test_parquet_is_read_as_csv_is(catalog: Catalog, tmp_path: Path) -> None:
    """Loading the same rows, written by pandas with types of its own, changes nothing."""
    folder = tmp_path / "parquet"
    folder.mkdir()
    for kind in KINDS:
        rows = pd.DataFrame(catalog.show(kind))
        if kind == "datasets":
            rows = rows.drop(columns="dataset")
        rows.to_parquet(folder / f"{kind}.parquet")
    assert not catalog.load([folder]).changed


def test_parquet_without_pyarrow_says_what_to_install(
    small_sqlite: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "prices.parquet").touch()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        CatalogError, match=r"Parquet files need pyarrow \(pip install 'sweep-orchestrator\[parquet\]'\)"
    ):
        small_sqlite.load([tmp_path / "prices.parquet"])


def test_tags_in_parquet_may_be_lists(empty: Catalog, tmp_path: Path) -> None:
    rows = {"campaign": ["arctic", "desert"], "tags": [["snow", "night"], []]}
    pd.DataFrame(rows).to_parquet(tmp_path / "campaigns.parquet")
    empty.load([tmp_path / "campaigns.parquet"])
    assert [row["tags"] for row in empty.show("campaigns")] == [["night", "snow"], []]


def test_a_wrong_value_in_parquet_is_named_with_its_row(catalog: Catalog, tmp_path: Path) -> None:
    pd.DataFrame({"campaign": ["arctic", None]}).to_parquet(tmp_path / "campaigns.parquet")
    with pytest.raises(CatalogError, match=r"campaigns\.parquet:2:campaign: is empty"):
        catalog.load([tmp_path / "campaigns.parquet"])


def test_a_file_without_rows_loads_nothing(catalog: Catalog, tmp_path: Path) -> None:
    pd.DataFrame({"campaign": pd.Series([], dtype=str)}).to_parquet(tmp_path / "campaigns.parquet")
    assert catalog.load([tmp_path / "campaigns.parquet"]).counts == {"campaigns": Counts()}
    assert catalog.load([write(tmp_path, "campaigns", "campaign,tags")]).counts == {
        "campaigns": Counts(),
        "campaign_tags": Counts(),
    }


printable = st.text(st.characters(exclude_categories=["C"], exclude_characters="@;"), min_size=1).filter(str.strip)
campaigns = st.lists(
    st.fixed_dictionaries(
        {
            "campaign": printable,
            "recorded_from": st.none() | st.dates(),
            "tags": st.lists(printable, max_size=3).map(";".join),
            "description": st.none() | printable,
        }
    ),
    unique_by=lambda row: row["campaign"].strip(),
    max_size=8,
)


@given(rows=campaigns)
@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_the_rows_say_loading_them_twice_changes_nothing(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    catalog = make_catalog(f"sqlite:///{tmp_path / 'catalog.db'}")
    file = tmp_path / "campaigns.csv"
    pd.DataFrame(rows, columns=["campaign", "recorded_from", "tags", "description"]).to_csv(file, index=False)
    catalog.load([file])
    assert not catalog.load([file]).changed
