"""`sweep diff` shows what differs between two runs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator import api
from orchestrator.cli.session import Session
from orchestrator.runs.views.differences import Difference
from tests.cli.fake import FakeOrchestrator, FakeRun

if TYPE_CHECKING:
    from tests.cli.calls import Sweep


@dataclass
class Comparing(FakeOrchestrator):
    found: list[Difference] = field(default_factory=lambda: [Difference("retries", "1", "0")])

    def run(self, name: str | None = None) -> FakeRun:
        return FakeRun(name or "nightly")

    def compare(self, one: Any, other: Any) -> list[Difference]:
        self.calls.append((one.name, other.name))
        return self.found


@pytest.fixture
def team(monkeypatch: pytest.MonkeyPatch) -> Comparing:
    fake = Comparing()
    monkeypatch.setattr(Session, "orchestrator", fake)
    monkeypatch.setattr(api, "find_differences", fake.compare)
    return fake


def test_each_difference_is_a_line(sweep: Sweep, team: Comparing) -> None:
    assert sweep("diff", "a", "b").out.split() == ["WHAT", "A", "B", "retries", "1", "0"]
    assert team.calls == [("a", "b")]


def test_runs_that_do_not_differ_are_said_to_be_alike(sweep: Sweep, team: Comparing) -> None:
    team.found = []
    assert sweep("diff", "a", "b").out == "a and b are alike\n"


@pytest.mark.usefixtures("team")
def test_json_names_both(sweep: Sweep) -> None:
    shown = json.loads(sweep("diff", "a", "b", "--json").out)
    assert (shown["one"], shown["other"], shown["differences"][0]["what"]) == ("a", "b", "retries")
