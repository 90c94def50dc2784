"""Commands open the run that they are about."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pytest

from orchestrator.cli.session import Session
from orchestrator.errors import Damaged
from tests.cli.fake import FakeOrchestrator

if TYPE_CHECKING:
    from tests.cli.calls import Sweep

pytestmark = pytest.mark.usefixtures("team")


@pytest.mark.parametrize("command", ["status", "results", "cost", "logs"])
def test_news_is_asked_for_before_something_is_shown(sweep: Sweep, team: FakeOrchestrator, command: str) -> None:
    sweep(command)
    assert team.opened.calls[0] == "sync"


@pytest.mark.parametrize("command", ["status", "results", "cost"])
def test_no_sync_shows_what_is_known_here(sweep: Sweep, team: FakeOrchestrator, command: str) -> None:
    assert sweep(command, "--no-sync").code == 0
    assert team.opened.calls == []


@pytest.mark.parametrize("command", ["status", "watch", "logs", "results", "cost", "retry", "sync"])
def test_a_run_that_does_not_exist_is_said_so(sweep: Sweep, command: str) -> None:
    ended = sweep(command, "weekly")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "error: no run 'weekly' (`sweep runs` lists them)\n"


@dataclass
class Damaging(FakeOrchestrator):
    """An orchestrator that had to leave an object out."""

    def check_damage(self) -> None:
        raise Damaged("1 stored object is left out: s3://control/runs/nightly/results/3.json is spoiled")


@pytest.mark.parametrize("command", ["runs", "status", "results", "cost", "logs"])
def test_what_had_to_be_left_out_is_named_after_the_rest_was_shown(
    sweep: Sweep, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    opened = cached_property(lambda _: Damaging())
    opened.__set_name__(Session, "orchestrator")
    monkeypatch.setattr(Session, "orchestrator", opened)
    ended = sweep(command)
    assert ended.code == 5
    assert ended.out
    assert "runs/nightly/results/3.json is spoiled" in ended.err
    assert len(ended.err.splitlines()) == 1
    assert json.loads(sweep(command, "--json").err.splitlines()[-1])["error"]["exit_code"] == 5


def test_another_error_is_not_hidden_by_what_was_left_out(sweep: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = cached_property(lambda _: Damaging())
    opened.__set_name__(Session, "orchestrator")
    monkeypatch.setattr(Session, "orchestrator", opened)
    ended = sweep("status", "weekly")
    assert (ended.code, ended.err) == (2, "error: no run 'weekly' (`sweep runs` lists them)\n")
