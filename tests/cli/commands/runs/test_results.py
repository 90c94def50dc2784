from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.fake import CANCELLED, FAILED, RUNNING, FakeOrchestrator, row

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.runs.views.tasks import TaskRow
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


def test_tasks_that_a_pause_has_held_back_are_said_with_what_to_do(sweep: Sweep, team: FakeOrchestrator) -> None:
    why = "paused: the first 5 tasks to fail did so alike: Killed"
    team.opened.rows = [row(0, state=FAILED, reason="Killed"), row(1, state=CANCELLED, reason=why)]
    err = sweep("results").err
    assert err.startswith(f"warning: 1 task was not run; {why} (")
    assert "`sweep retry nightly` goes on" in err


def test_a_metric_that_no_task_has_is_said_loudly(sweep: Sweep, team: FakeOrchestrator) -> None:
    assert sweep("results").err == ""
    team.opened.rows = [row(0, 0.5, score=None), row(1, 0.5, score=None)]
    assert sweep("results").err.startswith("warning: none of the finished tasks has 'loss', the metric that ranks them")
    team.opened.rows = [row(0, 0.5), row(1, 0.5, score=None), row(2)]
    assert sweep("results").err.startswith("warning: 1 finished tasks have no 'loss'")


def test_nan_that_was_seen_is_told_apart_from_a_metric_that_is_missing(sweep: Sweep, team: FakeOrchestrator) -> None:
    team.opened.rows = [row(number, 0.5, score=None, not_finite=("loss",)) for number in (0, 1)]
    assert sweep("results").err == (
        "warning: all finished tasks have NaN or infinity as their newest 'loss', the metric that ranks them:"
        " it is left out (`sweep logs` shows what they wrote)\n"
    )
    team.opened.rows = [row(0, 0.5), row(1, 0.5, score=None, not_finite=("loss",)), row(2, 0.5, score=None)]
    said = sweep("results").err.splitlines()
    assert said[0].startswith("warning: 1 finished tasks have NaN or infinity as their newest 'loss'")
    assert said[1].startswith("warning: 1 finished tasks have no 'loss'")


def test_a_metric_that_is_nan_in_every_log_is_not_called_absent(
    sweep: Sweep, team: FakeOrchestrator, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [row(0, 0.5, not_finite=("acc",))]
    monkeypatch.setattr(team.opened, "measure", lambda *_args, **_options: rows)
    said = sweep("results", "--metric", "acc=acc: ([0-9.]+)").err
    assert said == "warning: the logs have NaN or infinity as the newest 'acc': it is left out\n"


def test_logs_that_could_not_be_read_are_named_after_the_table(
    sweep: Sweep, team: FakeOrchestrator, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [row(0, 0.5), row(1, 0.4, unread="us-west-2: no answer"), row(2, unread="us-west-2: no answer")]
    monkeypatch.setattr(team.opened, "measure", lambda *_, **__: rows)
    ended = sweep("results", "--metric", "acc=acc: (.*)", "--limit", "1")
    assert (ended.code, len(ended.out.splitlines())) == (5, 2)
    assert "error: the logs of 2 tasks were not read: us-west-2: no answer (" in ended.err
    ended = sweep("results", "--metric", "acc=acc: (.*)", "--json")
    assert [one["unread"] for one in json.loads(ended.out)] == ["", *["us-west-2: no answer"] * 2]


def test_nan_is_shown_in_its_column(sweep: Sweep, team: FakeOrchestrator) -> None:
    team.opened.rows = [row(0, 0.5), row(1, score=None, not_finite=("loss",)), row(2, score=None)]
    lines = [line.split() for line in sweep("results").out.splitlines()]
    at = lines[0].index("LOSS")
    assert [line[at] for line in lines[1:3]] == ["0.5", "nan"]
    assert "nan" not in lines[3]


def test_a_metric_can_be_read_from_the_logs_afterwards(sweep: Sweep, team: FakeOrchestrator) -> None:
    best = json.loads(sweep("results", "--metric", "acc=acc: ([0-9.]+)", "--json").out)[0]
    assert best["metrics"] == {"loss": 0.25, "acc": 0.9}
    assert ("measure", {"acc": "acc: ([0-9.]+)"}, False) in team.opened.calls


def test_a_metric_that_takes_the_place_of_the_one_that_ranks_is_said(sweep: Sweep) -> None:
    assert "warning: --metric replaces" not in sweep("results", "--metric", "acc=acc: ([0-9.]+)").err
    assert sweep("results", "--metric", "loss=loss: ([0-9.]+)").err.startswith("warning: --metric replaces 'loss'")


def test_what_is_found_is_kept_if_that_is_asked_for(sweep: Sweep, team: FakeOrchestrator) -> None:
    assert sweep("results", "--metric", "acc=acc: ([0-9.]+)", "--keep").code == 0
    assert ("measure", {"acc": "acc: ([0-9.]+)"}, True) in team.opened.calls
    ended = sweep("results", "--keep")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: --keep: there is nothing to keep (--metric NAME=REGEX says what to look for)")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("acc=(", "error: --metric acc=(: not a regular expression: "),
        ("acc=x", "error: --metric acc=x: no metric (write --metric 'acc=accuracy: ([0-9.]+)', with one pair"),
        ("=(x)", "error: --metric =(x): no metric"),
        ("acc", "error: --metric acc: no metric"),
    ],
)
def test_what_is_no_metric_is_told(sweep: Sweep, text: str, said: str) -> None:
    ended = sweep("results", "--metric", text)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(said)


def test_the_best_value_of_a_curve_is_shown_where_it_ranks(sweep: Sweep, team: FakeOrchestrator) -> None:
    assert "SCORE" not in sweep("results").out
    team.opened.rows = [row(0, 0.5, score=0.1), row(1, 0.25)]
    assert "SCORE" in sweep("results").out


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
    assert best["platform"] == "sagemaker"


def test_tasks_on_several_platforms_have_a_column_for_them(sweep: Sweep, team: FakeOrchestrator) -> None:
    assert "PLATFORM" not in sweep("results").out
    team.opened.rows = [row(0, 0.5), row(1, platform="elsewhere")]
    assert "PLATFORM" in sweep("results").out
    assert "elsewhere" in sweep("results").out


def test_the_zone_and_what_was_waited_for_machines_are_shown_where_there_is_any(
    sweep: Sweep, team: FakeOrchestrator
) -> None:
    plain = sweep("results").out
    assert "SITE" not in plain
    assert "WAITED" not in plain
    team.opened.rows = [row(0, 0.5, site="eu-west-1b", waited_s=90.0), row(1, 0.6)]
    header, first, second = sweep("results").out.splitlines()[:3]
    columns = header.split()
    assert [first.split()[columns.index(name)] for name in ("SITE", "WAITED")] == ["eu-west-1b", "1m30s"]
    assert [second.split()[columns.index(name)] for name in ("SITE", "WAITED")] == ["-", "-"]


def test_tasks_that_lack_a_parameter_or_a_metric_still_line_up(sweep: Sweep, team: FakeOrchestrator) -> None:
    team.opened.rows = [row(0, 0.5), row(1, point={"depth": 3}, metrics={})]
    rows = list(csv.DictReader(io.StringIO(sweep("results", "--csv").out)))
    assert [(r["point.lr"], r["point.depth"], r["metric.loss"]) for r in rows] == [("0.1", "", "0.5"), ("", "3", "")]


def test_time_and_cost_of_what_runs_are_marked_as_estimates(sweep: Sweep, team: FakeOrchestrator) -> None:
    team.opened.rows = [row(0, 0.5), row(1, state=RUNNING, seconds=720.0, usd=0.3, estimated=True)]
    done, running = sweep("results").out.splitlines()[1:]
    assert {"1m15s", "$0.0042"} <= set(done.split())
    assert {"~12m", "~$0.30"} <= set(running.split())
    _, plain = csv.DictReader(io.StringIO(sweep("results", "--csv").out))
    assert (plain["seconds"], plain["usd"], plain["estimated"]) == ("720.0", "0.3", "True")


# Curves


@pytest.fixture
def drawn(team: FakeOrchestrator) -> list[tuple[list[int], str]]:
    """The pictures that were asked for: their tasks and their forms."""
    calls: list[tuple[list[int], str]] = []

    def draw(rows: list[TaskRow], form: str) -> bytes:
        calls.append(([row.task for row in rows], form))
        return b"a picture"

    team.opened.draw = draw  # type: ignore[attr-defined]
    return calls


@pytest.mark.parametrize("form", ["svg", "png"])
def test_learning_curves_are_drawn_into_a_file(sweep: Sweep, drawn: list[Any], tmp_path: Path, form: str) -> None:
    file = tmp_path / f"curves.{form}"
    ran = sweep("results", "--limit", "1", "--plot", str(file))
    assert (drawn, file.read_bytes()) == ([([1], form)], b"a picture")
    assert ran.out.startswith("TASK")
    assert f"wrote {file}" in ran.err


@pytest.mark.usefixtures("drawn")
def test_a_file_that_we_did_not_draw_is_replaced_only_by_force(sweep: Sweep, tmp_path: Path) -> None:
    (tmp_path / "mine.svg").write_text("<svg>mine</svg>")
    refused = sweep("results", "--plot", str(tmp_path / "mine.svg"))
    assert (refused.code, refused.out) == (2, "")
    assert "is there already, and is no picture of ours (--force replaces it)" in refused.err
    assert sweep("results", "--plot", str(tmp_path / "mine.svg"), "--force").code == 0
    assert (tmp_path / "mine.svg").read_text() == "a picture"


def test_a_picture_of_another_kind_is_refused_before_anything_is_asked(sweep: Sweep, team: FakeOrchestrator) -> None:
    ran = sweep("results", "--plot", "curves.pdf")
    assert (ran.code, ran.out) == (2, "")
    assert "neither a .svg nor a .png" in ran.err
    assert team.opened.calls == []


def test_json_has_the_curves(sweep: Sweep, team: FakeOrchestrator) -> None:
    team.opened.rows = [row(0, 0.5, curves={"loss": [(1, 0.75), (2, 0.5)]})]
    assert json.loads(sweep("results", "--json").out)[0]["curves"] == {"loss": [[1, 0.75], [2, 0.5]]}


def test_a_table_is_shown_without_asking_for_curves(sweep: Sweep, team: FakeOrchestrator) -> None:
    sweep("results")
    sweep("results", "--csv")
    assert "curves" not in team.opened.calls


def test_a_metric_that_no_log_has_is_named(
    sweep: Sweep, team: FakeOrchestrator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(team.opened, "measure", lambda rows, *_args, **_options: rows)
    ended = sweep("results", "--metric", "acc=acc: ([0-9.]+)")
    assert (ended.code, "warning: no log has 'acc' (`sweep logs --task " in ended.err) == (0, True)
