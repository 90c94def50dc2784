"""What a new user meets before there is anything: every answer says what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.calls import Sweep

SETTINGS = """
bucket = "b"
region_bucket = "b-{region}"
role = "arn:aws:iam::123456789012:role/r"
launcher_image = "sweep-launcher:1"
"""


@pytest.mark.parametrize("command", ["status", "watch", "logs", "results", "cost", "retry", "sync"])
def test_without_any_run_the_command_says_so(sweep: Sweep, command: str) -> None:
    ended = sweep(command)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: there are no runs yet (`sweep submit` makes one; a team's are found by")


def test_a_region_that_aws_cannot_have_is_refused(sweep: Sweep) -> None:
    ended = sweep("--region", "nowhere-1", "status")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "error: --region: region: AWS has no Region 'nowhere-1': they are called as in eu-west-1\n"
    assert "no runs yet" in sweep("--region", "eu-nowhere-7", "status").err


@pytest.mark.parametrize(
    "words",
    ["runs", "status nightly", "retry", "results", "cost --month 2026-11", "catalog show prices", "plan sweep.yaml"],
)
def test_who_only_looks_leaves_no_database(sweep: Sweep, words: str) -> None:
    sweep("init")
    before = sorted(Path().iterdir())
    sweep(*words.split())
    assert sorted(Path().iterdir()) == before


def test_a_misspelt_setting_is_one_line_that_does_not_end_anything(
    sweep: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SWEEP_REGIN", "eu-west-1")
    for _ in range(2):
        ended = sweep("runs", "--json")
        assert (ended.code, ended.out) == (0, "[]\n")
        assert ended.err == "warning: SWEEP_REGIN is not a setting; did you mean SWEEP_REGION?\n"


def test_an_empty_catalog_says_how_to_fill_it(sweep: Sweep) -> None:
    sweep("init")
    ended = sweep("plan", "sweep.yaml")
    assert (ended.code, ended.out) == (2, "")
    assert "sweep catalog load" in ended.err


def test_submitting_without_settings_says_which_are_missing(sweep: Sweep, project: Path) -> None:  # noqa: ARG001
    ended = sweep("submit", "sweep.yaml", "--yes")
    assert ended.code == 2
    assert "bucket" in ended.err.splitlines()[-1]


@pytest.mark.parametrize("dry", [["--dry-run"], []])
def test_an_empty_name_is_no_name_for_a_run(sweep: Sweep, project: Path, dry: list[str]) -> None:
    (project / "sweep.toml").write_text(SETTINGS)
    ended = sweep("submit", "sweep.yaml", "--yes", "--name", "", *dry)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.splitlines()[-1].startswith("error: '' cannot name a run")


def test_no_credentials_is_one_line_and_4(sweep: Sweep, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    (project / "sweep.toml").write_text(SETTINGS)
    ended = sweep("submit", "sweep.yaml", "--yes")
    assert ended.code == 4
    assert ended.err.splitlines()[-1].startswith("error: ")


def test_an_endpoint_that_is_down_is_one_line_and_1(
    sweep: Sweep, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "local")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    (project / "sweep.toml").write_text(SETTINGS)
    ended = sweep("submit", "sweep.yaml", "--yes")
    assert ended.code == 1
    assert "127.0.0.1:9" in ended.err.splitlines()[-1]


def test_a_name_that_the_locale_cannot_read_is_one_clear_line(sweep: Sweep) -> None:
    ended = sweep("status", "gr\udcc3\udcb6sse")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: '\\udcc3\\udcb6' cannot be written in utf-8")


def test_the_schema_describes_the_sweep_file(sweep: Sweep) -> None:
    body = json.loads(sweep("schema").out)
    assert {"train", "space", "where"} <= set(body["properties"])
    assert body == json.loads(sweep("schema", "--json").out)
