"""The campaign on paper finds what is broken, and comes to its end where nothing is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("greenlet")

from orchestrator.launcher.task_history import TaskHistory
from tests.chaos.kills.play import play_story
from tests.chaos.kills.script import Choice
from tests.chaos.kills.team import Office

if TYPE_CHECKING:
    from pathlib import Path

    from tests.chaos.report import Report

CHOICE = Choice(5, bad_weather=True, lines=False, often=0.01)


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Office:
    return Office(tmp_path_factory.mktemp("chaos") / "office")


@pytest.fixture(scope="module")
def report(office: Office, tmp_path_factory: pytest.TempPathFactory) -> Report:
    return play_story(CHOICE, office, tmp_path_factory.mktemp("first"))


def test_a_story_with_kills_and_faults_breaks_no_promise(report: Report) -> None:
    assert report.broken == []
    assert report.kills.total() >= 3
    assert report.runs == report.kills.total() + 1
    assert report.faults.total() > 0


@pytest.mark.long
def test_one_seed_plays_one_story(office: Office, tmp_path: Path, report: Report) -> None:
    assert play_story(CHOICE, office, tmp_path) == report


def test_launchers_that_do_not_wait_for_a_proof_are_found_out(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TaskHistory, "_ended", lambda history, attempt: attempt.number in history.outcomes)
    stories = (Choice(seed, bad_weather=False, lines=False, often=0.0) for seed in range(1, 40))
    reports = (play_story(story, office, tmp_path / str(story.seed)) for story in stories)
    assert any("done twice" in {promise for promise, _ in report.broken} for report in reports)
