"""A Cost and Usage Report is read in every form that AWS writes it."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.errors import UsageError
from orchestrator.spending.bill import read_bill
from orchestrator.spending.paid import read_month_span

if TYPE_CHECKING:
    from pathlib import Path

NOVEMBER = read_month_span("2026-11")
LEGACY = "lineItem/UsageStartDate,lineItem/UnblendedCost,resourceTags/user:sweep:run"
NEW = "line_item_usage_start_date,line_item_unblended_cost,resource_tags"


def bill(file: Path, *lines: str) -> dict[tuple[str, str], float]:
    file.write_text("\n".join(lines) + "\n")
    return read_bill(file, NOVEMBER).usd


def test_the_legacy_report_has_a_column_for_the_tag(tmp_path: Path) -> None:
    found = bill(
        tmp_path / "cur.csv",
        LEGACY,
        "2026-11-01T01:00:00Z,0.5,monday",
        "2026-11-01T02:00:00Z,0.25,monday",
        "2026-11-02T00:00:00Z,1e-3,monday",
        "2026-10-31T23:00:00Z,9,monday",
        "2026-11-02T00:00:00Z,,monday",
        "2026-11-02T00:00:00Z,4,",
    )
    assert found == {("monday", "2026-11-01"): 0.75, ("monday", "2026-11-02"): 0.001}


def test_the_new_report_has_all_tags_in_one_column(tmp_path: Path) -> None:
    tags = json.dumps({"user_sweep_run": "monday", "user_team": "x"}).replace('"', '""')
    lines = [NEW, f'2026-11-01 01:00:00,0.5,"{tags}"', "2026-11-01 01:00:00,0.5,{}", "2026-11-01 01:00:00,0.5,spoilt"]
    assert bill(tmp_path / "cur.csv", *lines) == {("monday", "2026-11-01"): 0.5}


def test_a_savings_plan_s_negation_is_taken_off(tmp_path: Path) -> None:
    lines = [LEGACY, "2026-11-01T00:00:00Z,3,monday", "2026-11-01T00:00:00Z,-1,monday"]
    assert bill(tmp_path / "cur.csv", *lines) == {("monday", "2026-11-01"): 2.0}


def test_a_packed_report_is_unpacked(tmp_path: Path) -> None:
    file = tmp_path / "cur.csv.gz"
    file.write_bytes(gzip.compress(f"{LEGACY}\n2026-11-01T00:00:00Z,3,monday\n".encode()))
    assert read_bill(file, NOVEMBER).runs == {"monday": 3.0}


@pytest.mark.parametrize("tags", [{"user_sweep_run": "monday"}, [("user_sweep_run", "monday")]])
def test_parquet_is_read_where_pyarrow_is_there(tmp_path: Path, tags: Any) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    kind = arrow.map_(arrow.string(), arrow.string()) if isinstance(tags, list) else None
    columns = {
        "line_item_usage_start_date": arrow.array(["2026-11-01 00:00:00"]),
        "line_item_unblended_cost": arrow.array([0.5]),
        "resource_tags": arrow.array([tags], kind),
        "line_item_resource_id": arrow.array(["arn"]),
    }
    parquet.write_table(arrow.table(columns), tmp_path / "cur.parquet")
    assert read_bill(tmp_path / "cur.parquet", NOVEMBER).usd == {("monday", "2026-11-01"): 0.5}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["a,b", "1,2"], "no Cost and Usage Report: it has no column line_item_unblended_cost"),
        (["lineItem/UsageStartDate,lineItem/UnblendedCost", "2026-11-01,1"], "no column for the tag sweep:run"),
        ([LEGACY, "2026-11-01T00:00:00Z,much,monday"], "cur.csv:2: 'much' is no amount of dollars"),
    ],
)
def test_what_is_no_report_is_said_with_its_place(tmp_path: Path, lines: list[str], said: str) -> None:
    with pytest.raises(UsageError) as raised:
        bill(tmp_path / "cur.csv", *lines)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [("cur.csv.gz", b"no gzip"), ("cur.csv", b"\xff\xfe"), ("cur.parquet", b"no parquet"), ("cur.csv", b"")],
)
def test_what_cannot_be_read_is_one_line(tmp_path: Path, name: str, content: bytes) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError) as raised:
        read_bill(tmp_path / name, NOVEMBER)
    assert raised.value.where.startswith(str(tmp_path / name))
    assert "\n" not in str(raised.value)
