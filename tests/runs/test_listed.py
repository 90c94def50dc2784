"""Which runs there are, as a machine says that has never looked at them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.cli.app import main
from orchestrator.cli.session import Session
from orchestrator.errors import AccessDenied, Unreachable
from orchestrator.orchestrator import Orchestrator
from orchestrator.runs.views.first_look import NEW_LOOKS
from orchestrator.settings.settings import Settings
from tests.runs.bench import ACCOUNT, plan

if TYPE_CHECKING:
    from pathlib import Path

    from tests.runs.bench import Desk


@pytest.fixture
def there(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Orchestrator:
    """The team's Orchestrator with an empty database, and the bucket of one run that is done."""
    anchor = desk.submit(desk.anchor(plan(tasks=2)))
    for task in (0, 1):
        desk.launch(anchor, task)
    settings = Settings(database=f"sqlite:///{tmp_path / 'theirs.db'}", bucket=ACCOUNT.bucket)
    monkeypatch.setattr(Orchestrator, "_cloud_of", lambda *_: desk.cloud())
    return Orchestrator(settings)


def listed(there: Orchestrator) -> list[tuple[str, str, float | None]]:
    return [(row.name, row.state, row.usd) for row in there.runs()]


def test_runs_that_only_the_bucket_knows_are_looked_at(there: Orchestrator) -> None:
    assert listed(there) == [("nightly", "done", 3.6)]


def test_how_a_run_stands_that_cannot_be_looked_at_is_not_known(
    there: Orchestrator, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert there._runs.names() == ["nightly"]

    def unreachable(*_: Any) -> None:
        raise Unreachable("no answer")

    monkeypatch.setattr(desk.bucket, "level", unreachable)
    assert listed(there) == [("nightly", "unknown", None)]


def test_only_the_newest_are_looked_at(there: Orchestrator, desk: Desk) -> None:
    for number in range(NEW_LOOKS):
        desk.submit(desk.anchor(name=f"run-{number}", created_at=2e6 + number))
    *looked_at, oldest = listed(there)
    assert [state for _, state, _ in looked_at] == ["pending"] * NEW_LOOKS
    assert oldest == ("nightly", "unknown", None)
    assert listed(there)[-1] == ("nightly", "done", 3.6)  # the next time it is its turn


def test_a_run_that_others_submit_is_listed_though_the_database_knows_others(there: Orchestrator, desk: Desk) -> None:
    assert len(listed(there)) == 1
    desk.submit(desk.anchor(name="by-the-clock", created_at=2e6))
    assert listed(there) == [("by-the-clock", "pending", 0.0), ("nightly", "done", 3.6)]


def test_without_asking_only_what_is_known_here_is_listed(there: Orchestrator, desk: Desk) -> None:
    assert there.runs(sync=False) == []
    assert listed(there)
    desk.submit(desk.anchor(name="by-the-clock", created_at=2e6))
    assert [row.name for row in there.runs(sync=False)] == ["nightly"]


def test_runs_are_listed_as_known_where_the_bucket_does_not_answer(
    there: Orchestrator, desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert listed(there)

    def unreachable(*_: Any) -> None:
        raise Unreachable("no answer")

    monkeypatch.setattr(desk.bucket, "folders", unreachable)
    assert listed(there) == [("nightly", "done", 3.6)]
    assert "runs that others have submitted may be missing: no answer" in caplog.text


def month(capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, float], list[str]]:
    """What `sweep cost` says of the month of these runs: its exit code, each run's dollars, and what is unknown."""
    code = main(["cost", "--month", "1970-01", "--by", "run", "--json"])
    said = json.loads(capsys.readouterr().out)
    return code, {row["name"]: row["usd"] for row in said["rows"]}, said["unknown"]


def test_a_month_counts_runs_that_nobody_here_has_submitted(
    there: Orchestrator, desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Session, "orchestrator", there)
    assert month(capsys) == (0, {"nightly": 3.6}, [])
    night = desk.submit(desk.anchor(plan(tasks=2), name="by-the-clock", created_at=2e6))
    desk.launch(night, 0)
    assert month(capsys) == (0, {"nightly": 3.6, "by-the-clock": 1.8}, [])


def test_a_month_names_the_runs_that_cannot_be_read(
    there: Orchestrator, desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Session, "orchestrator", there)
    assert listed(there)
    desk.bucket.put_once("runs/broken/run.json", b"{")
    desk.submit(desk.anchor(name="closed", created_at=2e6))
    get = desk.bucket.get

    def closed(key: str) -> Any:
        if key == "runs/closed/run.json":
            raise AccessDenied("not yours")
        return get(key)

    monkeypatch.setattr(desk.bucket, "get", closed)
    _, usd, unknown = month(capsys)
    assert usd == {"nightly": 3.6}
    assert [line.partition(": ")[0] for line in unknown] == ["run broken", "run closed"]
    assert unknown[1] == "run closed: not yours"


def test_a_month_says_that_the_bucket_could_not_be_listed(
    there: Orchestrator, desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Session, "orchestrator", there)
    assert listed(there)

    def unreachable(*_: Any) -> None:
        raise Unreachable("no answer")

    monkeypatch.setattr(desk.bucket, "folders", unreachable)
    assert month(capsys) == (0, {"nightly": 3.6}, ["runs that others have submitted may be missing: no answer"])
