"""`sweep why` says what holds a run up, and where the time of a task has gone."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from orchestrator.cli.session import Session
from orchestrator.runs.why.findings import Hindrance
from orchestrator.runs.why.story import Story, TimePart
from tests.cli.fake import FAILED, FakeOrchestrator, FakeRun, row

if TYPE_CHECKING:
    from tests.cli.calls import Sweep

STORY = Story(0.0, 910.0, (TimePart("waiting for slots", 100.0), TimePart("training", 780.0)), 30.0, "SUCCEEDED")


@dataclass
class Explained(FakeRun):
    findings: list[Hindrance] = field(default_factory=lambda: [Hindrance(3, "wait in a1", "wait a minute", "1-3")])
    told: Story | None = STORY

    def why(self) -> list[Hindrance]:
        return self.findings

    def story(self, task: int) -> Story | None:
        self.calls.append(("story", task))
        return self.told


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Explained:
    run = Explained()
    monkeypatch.setattr(Session, "orchestrator", FakeOrchestrator(run))
    return run


@pytest.mark.usefixtures("run")
def test_what_holds_a_run_up_is_told_with_what_to_do(sweep: Sweep) -> None:
    assert sweep("why").out.splitlines()[1:] == ["3 tasks: wait in a1 [1-3]", "    wait a minute"]


def test_a_run_that_nothing_holds_up_is_said_to_be_so(sweep: Sweep, run: Explained) -> None:
    run.findings = []
    assert sweep("why").out.splitlines() == ["nightly: done", "nothing holds it up"]


def test_a_tasks_time_is_shown_part_by_part(sweep: Sweep, run: Explained) -> None:
    run.rows = [row(7, state=FAILED, reason="ValueError: the loss is not a number")]
    shown = sweep("why", "--task", "7").out
    assert shown.startswith("nightly task 7: failed in eu-west-1 on ml.m5.xlarge (spot), attempt 1: ValueError")
    assert "waiting for slots  1m40s\n" in shown
    assert "15m10s since it was submitted, 30s of it unaccounted\n" in shown
    assert "its launcher in Batch: SUCCEEDED\n" in shown
    assert shown.endswith("    loss=0.5\n")
    assert ("story", 7) in run.calls


def test_json_has_the_story(sweep: Sweep, run: Explained) -> None:
    run.rows = [row(7, 0.5)]
    told = json.loads(sweep("why", "--task", "7", "--json").out)
    assert (told["story"]["unaccounted"], told["task"]["task"], told["last_words"]) == (30.0, 7, [])


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize("task", ["1-2", "1,4", "x", ""])
def test_only_one_task_can_be_asked_about(sweep: Sweep, task: str) -> None:
    assert sweep("why", "--task", task).code == 2


def test_a_log_does_not_rule_the_terminal(sweep: Sweep, run: Explained) -> None:
    run.findings = [Hindrance(1, "failed: \x1b[2J", "wait", "1")]
    assert "\x1b" not in sweep("why").out


def test_a_region_that_is_away_is_named_after_what_others_know(sweep: Sweep, run: Explained) -> None:
    run.rows = [row(7, 0.5)]
    run.told = replace(STORY, unseen={"us-west-2": "no answer"})
    ended = sweep("why", "--task", "7")
    assert ended.code == 5
    assert "waiting for slots  1m40s\n" in ended.out
    assert ended.err.startswith("error: not looked at: us-west-2: no answer (")
    ended = sweep("why", "--task", "7", "--json")
    assert (ended.code, json.loads(ended.out)["unseen"]) == (5, {"us-west-2": "no answer"})


def test_a_task_that_waits_for_quota_is_told_what_to_do(sweep: Sweep, run: Explained) -> None:
    run.rows = [row(7)]
    run.told = replace(STORY, held_up=(Hindrance(1, "wait for quota of x in us-east-1", "ask AWS for more", "7"),))
    assert "wait for quota of x in us-east-1\n    ask AWS for more\n" in sweep("why", "--task", "7").out
