from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.fake import status

if TYPE_CHECKING:
    from tests.cli.calls import Sweep
    from tests.cli.fake import FakeOrchestrator

pytestmark = pytest.mark.usefixtures("team")


def test_cancel_without_a_terminal_needs_yes(sweep: Sweep, team: FakeOrchestrator) -> None:
    ended = sweep("cancel")
    assert ended.code == 2
    assert "--yes" in ended.err
    assert team.opened.calls == []


def test_cancel_with_yes_tells_how_the_run_stands(sweep: Sweep) -> None:
    assert sweep("cancel", "nightly", "--yes").out == "nightly: 0/2 done, 2 cancelled, $2.00\n"
    assert json.loads(sweep("cancel", "--yes", "--json").out)["state"] == "cancelled"


def test_a_cancel_that_a_retry_has_overtaken_does_not_say_that_nothing_runs(
    sweep: Sweep, team: FakeOrchestrator, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "nothing of nightly runs any more" in sweep("cancel", "--yes").err
    monkeypatch.setattr(team.opened, "cancel", list)
    team.opened.statuses.append(status(running=1, cancelled=1))
    ended = sweep("cancel", "--yes")
    assert "nothing of nightly" not in ended.err
    assert "a retry of nightly was made meanwhile, and goes on" in ended.err


def test_a_cancel_that_is_interrupted_says_how_to_go_on(
    sweep: Sweep, team: FakeOrchestrator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(team.opened, "cancel", interrupted)
    ended = sweep("cancel", "--yes")
    assert ended.code == 130
    assert "`sweep cancel nightly` goes on with it" in ended.err
