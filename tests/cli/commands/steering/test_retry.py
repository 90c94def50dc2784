from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from orchestrator.wire.ranges import Ranges

if TYPE_CHECKING:
    from tests.cli.calls import Sweep
    from tests.cli.fake import FakeOrchestrator

pytestmark = pytest.mark.usefixtures("team")


def test_retry_names_what_was_submitted_again(sweep: Sweep) -> None:
    assert sweep("retry").out == "nightly: 3 tasks submitted again: 3,7-8\n"


def test_retry_takes_exactly_the_tasks_named(sweep: Sweep) -> None:
    body = json.loads(sweep("retry", "--task", "3,7-9", "--json").out)
    assert body == {"run": "nightly", "tasks": "3,7-9", "count": 4}


def test_done_tasks_are_trained_again_only_where_that_is_said(sweep: Sweep, team: FakeOrchestrator) -> None:
    sweep("retry", "--task", "3", "--again")
    assert team.opened.calls[-1] == ("retry", "3", True)
    ended = sweep("retry", "--again")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "none are named (--task names them)" in ended.err


def test_nothing_to_retry_is_no_error(sweep: Sweep, team: FakeOrchestrator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(team.opened, "retry", lambda _, **__: Ranges())
    ended = sweep("retry")
    assert (ended.code, ended.out, ended.err) == (0, "", "nightly: nothing to run again\n")


def test_a_limit_that_still_holds_is_told(sweep: Sweep) -> None:
    sweep("limit", "nightly", "--slots", "eu-west-1=0")
    said = "limited to 0 in eu-west-1: `sweep limit nightly --slots` changes it, `--off` lifts it"
    assert sweep("retry").out.splitlines()[1:] == [said]
