from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator.catalog.catalog import Catalog
from orchestrator.catalog.files.kinds import KINDS
from orchestrator.cli.commands.account import catalog
from orchestrator.cli.commands.sweeps.init import STARTER

if TYPE_CHECKING:
    from tests.cli.calls import Sweep

STARTED = STARTER / "catalog"


def test_the_kinds_are_those_of_the_catalog() -> None:
    assert set(catalog.KINDS) == set(KINDS)


def test_loading_counts_what_became_of_the_rows(sweep: Sweep) -> None:
    rows = json.loads(sweep("catalog", "load", STARTED, "--json").out)
    assert {"table": "replicas", "inserted": 3, "updated": 0, "unchanged": 0, "removed": 0} in rows


def test_loading_twice_changes_nothing(sweep: Sweep) -> None:
    sweep("catalog", "load", STARTED)
    header, *lines = sweep("catalog", "load", STARTED).out.splitlines()
    assert header.split() == ["TABLE", "INSERTED", "UPDATED", "UNCHANGED", "REMOVED"]
    assert all(line.split()[1:3] == ["0", "0"] for line in lines)


def test_the_kind_of_a_file_with_another_name_is_told(sweep: Sweep) -> None:
    Path("export.csv").write_bytes((STARTED / "campaigns.csv").read_bytes())
    assert sweep("catalog", "load", "export.csv", "--kind", "campaigns").code == 0
    assert len(json.loads(sweep("catalog", "show", "campaigns", "--json").out)) == 2


def test_rows_of_a_kind_are_shown(sweep: Sweep) -> None:
    sweep("catalog", "load", STARTED)
    header, *lines = sweep("catalog", "show", "replicas").out.splitlines()
    assert header.split() == ["DATASET", "REGION", "S3_URI", "BYTES", "OBJECTS", "MARK"]
    assert lines[0].split()[:2] == ["berlin-winter@v1", "eu-central-1"]


def test_without_a_kind_all_are_counted(sweep: Sweep) -> None:
    sweep("catalog", "load", STARTED)
    counted = json.loads(sweep("catalog", "show", "--json").out)
    assert [row["kind"] for row in counted] == list(catalog.KINDS)
    assert {"kind": "prices", "rows": 8} in counted


def test_rows_are_counted_without_being_read(sweep: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(Catalog, "show")
    assert sweep("catalog", "show").code == 0


def test_an_empty_kind_says_how_to_fill_it(sweep: Sweep) -> None:
    ended = sweep("catalog", "show", "prices")
    assert (ended.code, ended.out) == (0, "")
    assert "sweep catalog load" in ended.err


def test_a_complete_catalog_has_no_problems(sweep: Sweep) -> None:
    sweep("catalog", "load", STARTED)
    ended = sweep("catalog", "check", "--json")
    assert (ended.code, json.loads(ended.out)) == (0, [])


def test_a_missing_price_is_a_problem_and_2(sweep: Sweep) -> None:
    sweep("catalog", "load", *(STARTED / f"{kind}.csv" for kind in ("campaigns", "datasets", "replicas")))
    ended = sweep("catalog", "check")
    assert ended.code == 2
    assert "price" in ended.out
    assert ended.err.startswith("error: ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["load", "nowhere"], "error: nowhere: no such file"),
        (["load", "."], "no catalog files in this folder"),
        (["load", "prices.csv"], "error: prices.csv:2:usd_per_hour"),
        (["load", "prices.csv", "--kind", "price"], "did you mean 'prices'?"),
        (["show", "price"], "did you mean 'prices'?"),
        (["load"], "Missing argument"),
    ],
)
def test_what_cannot_be_loaded_is_one_clear_line(sweep: Sweep, arguments: list[str], said: str) -> None:
    if arguments[1:] != ["."]:
        Path("prices.csv").write_text(
            "region,instance_type,purchase,usd_per_hour,observed_at\neu-west-1,ml.m5.xlarge,spot,cheap,2026-11-01\n"
        )
    ended = sweep("catalog", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert ended.err.count("\n") == 1


def test_a_database_in_a_folder_that_is_not_there_is_one_clear_line(sweep: Sweep) -> None:
    ended = sweep("catalog", "show", "--database", "sqlite:///nowhere/sweep.db")
    assert (ended.code, ended.out) == (2, "")
    assert "nowhere: the folder of the database does not exist" in ended.err
    assert ended.err.count("\n") == 1


def test_upgrading_says_so(sweep: Sweep) -> None:
    assert sweep("catalog", "upgrade").err == "the schema is up to date\n"
    assert json.loads(sweep("catalog", "upgrade", "--json").out) == {"schema": "current"}


def test_a_snapshot_plans_as_the_catalog_does(project: Path, sweep: Sweep) -> None:  # noqa: ARG001
    assert "`sweep --database sqlite:///copy.db plan" in sweep("catalog", "snapshot", "copy.db").err
    here, there = sweep("plan", "sweep.yaml"), sweep("--database", "sqlite:///copy.db", "plan", "sweep.yaml")
    assert (there.code, there.out) == (0, here.out)


def test_a_snapshot_takes_no_files_place(project: Path, sweep: Sweep) -> None:
    (project / "notes.txt").write_text("mine")
    ended = sweep("catalog", "snapshot", "notes.txt")
    assert (ended.code, (project / "notes.txt").read_text()) == (2, "mine")
    assert "notes.txt: there is such a file already (name a new one)" in ended.err


def test_a_team_s_own_database_is_imported_by_the_settings(sweep: Sweep) -> None:
    theirs = sqlite3.connect("theirs.db")
    theirs.execute("CREATE TABLE drives AS SELECT 'alps' AS campaign, 'v1' AS version, 5 AS bytes")
    theirs.commit()
    Path("drives.sql").write_text(
        "SELECT *, '2026-01-01' AS created_at, 'eu-west-1' AS region, 's3://team-eu/alps/' AS s3_uri FROM drives"
    )
    missing = sweep("catalog", "import")
    assert (missing.code, "campaign_database and campaign_query are not set" in missing.err) == (2, True)
    Path("sweep.toml").write_text('campaign_database = "sqlite:///theirs.db"\ncampaign_query = "drives.sql"\n')
    rows = json.loads(sweep("catalog", "import", "--json").out)
    assert [(row["table"], row["inserted"]) for row in rows] == [("campaigns", 1), ("datasets", 1), ("replicas", 1)]
