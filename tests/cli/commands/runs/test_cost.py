from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.calls import Sweep
    from tests.cli.fake import FakeOrchestrator

pytestmark = pytest.mark.usefixtures("team")


def test_the_cost_is_a_table_with_its_sum(sweep: Sweep) -> None:
    lines = sweep("cost").out.splitlines()
    assert lines[1].split() == ["eu-west-1", "ml.m5.xlarge", "spot", "2", "1h30m", "$0.25"]
    assert lines[-2] == "nightly: $0.25 for 1h30m of machine time"


def test_what_a_run_costs_beside_its_trainings_is_told_apart(sweep: Sweep) -> None:
    costs = "beside that: launchers about $0.0186, 2 data copies $0.0400"
    assert sweep("cost").out.splitlines()[-1] == f"{costs}, 3.0 GB in S3 about $0.0700 a month"
    assert json.loads(sweep("cost", "--json").out)["beside"]["copies_usd"] == 0.04
    assert sweep("cost", "--no-sync").out.splitlines()[-1] == f"{costs}, what it keeps in S3 is not known"


def test_the_cost_is_json(sweep: Sweep) -> None:
    body = json.loads(sweep("cost", "--json").out)
    assert (body["run"], body["usd"], body["hours"]) == ("nightly", 0.25, 1.5)
    assert body["rows"][0]["instance_type"] == "ml.m5.xlarge"
    assert body["rows"][0]["platform"] == "sagemaker"


def test_a_run_on_several_platforms_has_a_column_for_them(
    sweep: Sweep, team: FakeOrchestrator, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "PLATFORM" not in sweep("cost").out
    (row,) = team.opened.cost()
    monkeypatch.setattr(team.opened, "cost", lambda: [row, replace(row, platform="elsewhere")])
    header, *lines = sweep("cost").out.splitlines()
    assert header.split()[:2] == ["PLATFORM", "REGION"]
    assert [line.split()[0] for line in lines[:2]] == ["sagemaker", "elsewhere"]


def test_checkpoints_that_were_moved_have_a_column_if_there_are_any(
    sweep: Sweep, team: FakeOrchestrator, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "MOVED" not in sweep("cost").out.upper()
    (row,) = team.opened.cost()
    rows = [replace(row, usd=0.27, moved_usd=0.02), replace(row, region="us-east-1")]
    monkeypatch.setattr(team.opened, "cost", lambda: rows)
    lines = sweep("cost").out.splitlines()
    assert lines[0].upper().endswith("OF_IT_MOVES")
    assert lines[1].split()[-2:] == ["$0.27", "$0.0200"]


def test_the_zone_is_a_column_where_there_are_zones(
    sweep: Sweep, team: FakeOrchestrator, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "SITE" not in sweep("cost").out
    (row,) = team.opened.cost()
    rows = [replace(row, site="eu-west-1b"), replace(row, site="arn:aws:sagemaker:eu-west-1:1:training-plan/gpu")]
    monkeypatch.setattr(team.opened, "cost", lambda: rows)
    header, *lines = sweep("cost").out.splitlines()
    at = header.split().index("SITE")
    assert [line.split()[at] for line in lines[:2]] == ["eu-west-1b", "gpu"]
