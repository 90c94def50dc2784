"""Commands open the run that they are about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.calls import Sweep
    from tests.cli.fake import FakeOrchestrator

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
