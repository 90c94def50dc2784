from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from orchestrator.runs.views.logs import LogLine

if TYPE_CHECKING:
    from tests.cli.calls import Sweep
    from tests.cli.fake import FakeOrchestrator

pytestmark = pytest.mark.usefixtures("team")


def test_logs_say_which_task_wrote_a_line(sweep: Sweep) -> None:
    assert sweep("logs").out == "[3] loss=0.5\n"


def test_the_help_of_logs_promises_the_trainings_alone(sweep: Sweep) -> None:
    help_text = " ".join(sweep("logs", "--help").out.split())
    assert "launcher" not in help_text
    assert "`sweep results` has the reason" in help_text


def test_logs_of_some_tasks_are_followed(sweep: Sweep, team: FakeOrchestrator) -> None:
    sweep("logs", "--task", "3,7-9", "-f")
    assert ("logs", "3,7-9", True) in team.opened.calls


def test_logs_as_json_are_an_object_a_line(sweep: Sweep, team: FakeOrchestrator) -> None:
    team.opened.lines = [LogLine(3, "algo-1", "a"), LogLine(4, "algo-1", "b")]
    lines = [json.loads(line) for line in sweep("logs", "--json").out.splitlines()]
    assert lines == [
        {"task": 3, "stream": "algo-1", "text": "a"},
        {"task": 4, "stream": "algo-1", "text": "b"},
    ]
