"""What is wrong with a schedule is one line, with its place, before anything is made."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from orchestrator.cli.app import main
from orchestrator.cli.commands.sweeps.init import STARTER
from orchestrator.nightly.schedules import Schedules
from tests.fixtures.aws import REGION

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.aws.s3 import S3
    from orchestrator.aws.session import Clients

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


@pytest.fixture
def account(folder: Path, s3: S3, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """An account in which schedules can be made, with a catalog that was pushed, and a sweep file without times."""
    role = "arn:aws:iam::123456789012:role/sweep"
    said = {"REGION": REGION, "BUCKET": s3.bucket, "REGION_BUCKET": "team-{region}", "ROLE": role}
    said |= {"SCHEDULE_ROLE": role, "LAUNCHER_IMAGE": "launcher", "CONDUCTOR_IMAGE": "conductor:1"}
    for name, value in said.items():
        monkeypatch.setenv(f"SWEEP_{name}", value)
    (folder / "sweep.yaml").write_text(SWEEP.format(name="steering", schedule=""))
    assert main(["catalog", "push"]) == 0, capsys.readouterr().err
    return folder


BERLIN = ["--cron", "0 2 * * *", "--timezone", "Europe/Berlin", "--overlap", "queue", "--retrain", "all"]


def changes(capsys: pytest.CaptureFixture[str], *options: str) -> list[str]:
    """What an update of the schedule changes, a line each, but for what says that code or data did."""
    capsys.readouterr()
    assert main(["schedule", "update", "sweep.yaml", "--yes", "--json", *options]) == 0
    said = json.loads(capsys.readouterr().out)["changed"]
    return sorted(line for line in said if line.startswith("schedule"))


def timers(clients: Clients) -> set[tuple[str, str]]:
    scheduler = clients.client("scheduler", REGION)
    names = ("steering", "steering-utc")
    found = [scheduler.get_schedule(GroupName="sweep", Name=name) for name in names]
    return {(each["ScheduleExpression"], each["ScheduleExpressionTimezone"]) for each in found}


def test_an_update_of_a_file_without_times_keeps_those_that_the_schedule_has(
    account: Path, clients: Clients, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["schedule", "create", "sweep.yaml", "--yes", *BERLIN]) == 0, capsys.readouterr().err
    before = timers(clients)
    assert ("cron(0 2 * * ? *)", "Europe/Berlin") in before
    (account / "training" / "train.py").write_text("print(2)\n")
    assert changes(capsys) == []
    assert timers(clients) == before
    shown = json.loads(run(capsys, "schedule", "show", "steering", "--json"))
    assert (shown["overlap"], shown["retrain"]) == ("queue", "all")


def test_an_option_of_an_update_changes_what_it_names_and_keeps_the_rest(
    account: Path,  # noqa: ARG001
    clients: Clients,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["schedule", "create", "sweep.yaml", "--yes", *BERLIN]) == 0, capsys.readouterr().err
    assert changes(capsys, "--cron", "30 3 * * *") == ["schedule.cron: 0 2 * * * → 30 3 * * *"]
    assert ("cron(30 3 * * ? *)", "Europe/Berlin") in timers(clients)


def test_times_in_the_file_are_those_of_an_update_and_an_option_wins_over_them(
    account: Path, clients: Clients, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["schedule", "create", "sweep.yaml", "--yes", *BERLIN]) == 0, capsys.readouterr().err
    when = 'schedule: {cron: "0 4 * * *", timezone: Asia/Tokyo, overlap: queue, retrain: all}'
    (account / "sweep.yaml").write_text(SWEEP.format(name="steering", schedule=when))
    assert changes(capsys, "--timezone", "UTC") == [
        "schedule.cron: 0 2 * * * → 0 4 * * *",
        "schedule.timezone: Europe/Berlin → UTC",
    ]
    assert ("cron(0 4 * * ? *)", "UTC") in timers(clients)


def test_an_update_of_a_schedule_that_is_not_there_is_told(
    account: Path,  # noqa: ARG001
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["schedule", "update", "sweep.yaml", "--yes"]) == 2
    assert "no schedule 'steering'" in capsys.readouterr().err


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a command prints."""
    capsys.readouterr()
    assert main([*words]) == 0
    return capsys.readouterr().out


def test_a_second_schedule_and_one_that_cannot_be_planned_are_warned_of_before_they_are_made(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Schedules, "__init__", lambda *_: None)
    monkeypatch.setattr(Schedules, "others_of", lambda _, goal: [f"other-{goal.sweep.name}"])
    monkeypatch.setattr(Schedules, "check_free", lambda *_: None)
    monkeypatch.setattr("orchestrator.cli.commands.schedules.schedule._say_what_it_plans_on", lambda *_: None)
    monkeypatch.setenv("SWEEP_BUCKET", "control")
    (folder / "sweep.yaml").write_text(SWEEP.format(name="steering", schedule=""))
    assert main(["schedule", "create", "sweep.yaml", "--cron", "0 2 * * *"]) == 2  # nobody is there to be asked
    said = capsys.readouterr().err
    assert "note: other-steering trains steering, too: a night leaves out what the other trains just then" in said
    for options, what in (
        (("--overlap", "queue"), "a night waits while the other trains the same, and then looks anew"),
        (("--overlap", "replace"), "a night waits while the other trains the same, and then looks anew"),
        (("--retrain", "all"), "a night trains everything, whatever the other trains just then"),
    ):
        assert main(["schedule", "create", "sweep.yaml", "--cron", "0 2 * * *", *options]) == 2
        assert f"trains steering, too: {what}" in capsys.readouterr().err
    assert "warning: by the catalog as it is here, a night cannot be planned: the catalog has no campaigns" in said


def test_a_push_that_takes_datasets_away_names_them_and_asks(
    account: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["catalog", "load", str(STARTER / "catalog")]) == 0
    assert main(["catalog", "push"]) == 0
    monkeypatch.setenv("SWEEP_DATABASE", f"sqlite:///{account / 'another.db'}")
    capsys.readouterr()
    assert main(["catalog", "push"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("the newest snapshot, which ")
    assert said[0].endswith("has 2 datasets that this catalog lacks: berlin-winter@v1, oslo-night@v1")
    assert "this asks first, and there is no terminal to ask on (--yes goes ahead)" in said[-1]
    assert main(["catalog", "push", "--yes"]) == 0
    assert "is the newest snapshot now" in capsys.readouterr().err


def test_a_name_that_is_taken_is_refused_before_anything_else_is_said(
    account: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = account / "sweep.yaml"
    assert main(["schedule", "create", "sweep.yaml", "--yes", "--cron", "0 2 * * *"]) == 0
    capsys.readouterr()
    assert main(["schedule", "create", "sweep.yaml", "--yes", "--cron", "0 2 * * *"]) == 0  # completes this very one
    file.write_text(file.read_text().replace("runtime: 1.0", "runtime: 2.0"))
    capsys.readouterr()
    assert main(["schedule", "create", "sweep.yaml", "--yes", "--cron", "0 2 * * *"]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert "there is a schedule 'steering' already" in said


def test_a_file_by_which_nothing_is_promoted_is_noted(account: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = account / "sweep.yaml"
    plain = file.read_text()
    measured = plain.replace('image: "x:1"', 'image: "x:1", metrics: [loss]') + "objective: {minimize: loss}\n"
    noted = []
    for text in (plain, measured, measured + "promote: {}\n"):
        file.write_text(text)
        verb = "update" if noted else "create"
        assert main(["schedule", verb, "sweep.yaml", "--yes", "--cron", "0 2 * * *"]) == 0
        noted.append("note: nothing is promoted" in capsys.readouterr().err)
    assert noted == [False, True, False]


def test_the_list_names_the_zone_of_the_next_night(
    account: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert account
    assert main(["schedule", "create", "sweep.yaml", "--yes", "--cron", "0 2 * * *", "--timezone", "UTC"]) == 0
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        listed = run(capsys, "schedule", "list")
    finally:
        monkeypatch.undo()
        time.tzset()
    assert " 11:00 JST" in listed
