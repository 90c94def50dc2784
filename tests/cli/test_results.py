from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.fake import FAILED, FakeOrchestrator, row

if TYPE_CHECKING:
    from tests.cli.calls import Sweep

pytestmark = pytest.mark.usefixtures("team")


def test_results_are_ranked_with_their_point_and_metrics(sweep: Sweep) -> None:
    header, best, *_ = sweep("results").out.splitlines()
    assert header.split()[:6] == ["TASK", "DATASET", "LR", "BATCH", "LOSS", "STATE"]
    assert best.split()[:6] == ["1", "oslo@1", "0.1", "32", "0.25", "done"]


def test_a_reason_is_shown_only_if_there_is_one(sweep: Sweep, team: FakeOrchestrator) -> None:
    assert "REASON" not in sweep("results").out
    team.opened.rows.append(row(2, state=FAILED, reason="loss is nan"))
    out = sweep("results").out
    assert "REASON" in out
    assert "loss is nan" in out


def test_limit_keeps_the_best(sweep: Sweep) -> None:
    assert [row["task"] for row in json.loads(sweep("results", "--limit", "1", "--json").out)] == [1]


def test_json_keeps_point_and_metrics_apart(sweep: Sweep) -> None:
    best = json.loads(sweep("results", "--json").out)[0]
    assert best["point"] == {"lr": 0.1, "batch": 32}
    assert best["metrics"] == {"loss": 0.25}
    assert best["state"] == "done"


def test_csv_has_every_column_with_plain_values(sweep: Sweep) -> None:
    best = next(csv.DictReader(io.StringIO(sweep("results", "--csv").out)))
    assert best["point.lr"] == "0.1"
    assert best["metric.loss"] == "0.25"
    assert best["usd"] == "0.0042"
    assert best["training"] == "nightly-1-1"


def test_tasks_that_lack_a_parameter_or_a_metric_still_line_up(sweep: Sweep, team: FakeOrchestrator) -> None:
    team.opened.rows = [row(0, 0.5), row(1, point={"depth": 3}, metrics={})]
    rows = list(csv.DictReader(io.StringIO(sweep("results", "--csv").out)))
    assert [(r["point.lr"], r["point.depth"], r["metric.loss"]) for r in rows] == [("0.1", "", "0.5"), ("", "3", "")]
