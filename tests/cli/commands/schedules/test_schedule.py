"""What is wrong with a schedule is one line, with its place, before anything is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.cli.app import main

if TYPE_CHECKING:
    from pathlib import Path

SWEEP = """
name: {name}
train: {{source: training, entry_point: train.py, image: "x:1"}}
where: {{instance_types: [ml.c5.xlarge]}}
runtime: 1.0
{schedule}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "training").mkdir()
    (tmp_path / "training" / "train.py").write_text("print(1)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SWEEP_DATABASE", f"sqlite:///{tmp_path / 'sweep.db'}")
    return tmp_path


@pytest.mark.parametrize(
    ("schedule", "options", "said"),
    [
        ("", [], "sweep.yaml: says not when it is to run (give --cron"),
        ("", ["--cron", "*/5 2 * * *"], "cron: minute '*/5' is due 12 times, and a night is one a day"),
        ("", ["--cron", "0 2 * * *", "--timezone", "Europe/Berln"], "(did you mean 'Europe/Berlin'?)"),
        ("", ["--cron", "0 2 * * *", "--timezone", "utc"], "there is no time zone 'utc' (did you mean 'UTC'?)"),
        ("", ["--cron", "0 2 * * *", "--timezone", "localtime"], "there is no time zone 'localtime'"),
        ("", ["--cron", "0 2 * * *", "--overlap", "wait"], "overlap: Input should be 'skip', 'queue' or 'replace'"),
        ("", ["--cron", "0 2 * * *", "--retrain", "new.sql"], "new.sql: cannot be read: No such file or directory"),
        ("schedule: {cron: 0 25 * * *}", [], "sweep.yaml:6:18: the hour 25 is not within 0 to 23"),
        ("schedule: {timezone: UTC}", [], "sweep.yaml:6:1"),
        ('schedule: {cron: "0 2 * * *", zone: UTC}', [], "sweep.yaml:6:31: unknown key 'zone'"),
    ],
)
def test_a_schedule_that_cannot_be_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str], schedule: str, options: list[str], said: str
) -> None:
    (folder / "sweep.yaml").write_text(SWEEP.format(name="steering", schedule=schedule))
    assert main(["schedule", "create", "sweep.yaml", "--yes", *options]) == 2
    assert said in capsys.readouterr().err


def test_without_a_bucket_nothing_can_be_scheduled(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "sweep.yaml").write_text(SWEEP.format(name="steering", schedule=""))
    assert main(["schedule", "create", "sweep.yaml", "--yes", "--cron", "0 2 * * *"]) == 2
    assert "bucket is not set" in capsys.readouterr().err
