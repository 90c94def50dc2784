"""`sweep reap` shows what runs for nobody, and stops it only when asked."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from orchestrator.cli.commands.account import reap
from orchestrator.cli.session import Session
from orchestrator.runs.ending.reap import Search, Stray
from orchestrator.runs.ending.stray_arrays import StrayArray
from orchestrator.runs.ending.stray_leftovers import StrayLeftover
from tests.cli.fake import FakeOrchestrator

if TYPE_CHECKING:
    from tests.cli.calls import Sweep

STRAY = Stray(
    training="gone-3-1",
    platform="sagemaker",
    region="eu-west-1",
    instance_type="ml.m5.xlarge",
    purchase="spot",
    instances=1,
    run="gone",
    task=3,
    attempt=1,
    why="there is no run 'gone'",
    seconds=7200,
    usd=0.5,
    usd_per_hour=0.25,
)


@dataclass
class Reaping(FakeOrchestrator):
    strays: list[Stray] = field(default_factory=lambda: [STRAY])
    unseen: dict[str, str] = field(default_factory=dict)

    def reap(self, *, stop: bool = False) -> Search:
        self.calls.append(("reap", stop))
        return Search([replace(one, stopped=stop) for one in self.strays], 30, self.unseen, 2)


@pytest.fixture
def team(monkeypatch: pytest.MonkeyPatch) -> Reaping:
    fake = Reaping()
    monkeypatch.setattr(Session, "orchestrator", fake)
    return fake


def test_each_is_shown_with_its_cost_and_the_reason(sweep: Sweep, team: Reaping) -> None:
    ended = sweep("reap")
    assert ended.code == 0
    shown = " ".join(ended.out.splitlines()[1].split())
    assert shown == "gone-3-1 eu-west-1 ml.m5.xlarge spot 2h ~$0.50 there is no run 'gone' -"
    assert ended.out.splitlines()[-1] == (
        "1 training that nobody waits for, in 30 Regions; about $0.50 so far, $0.25 an hour; "
        "2 of other control buckets left alone"
    )
    assert team.calls == [("reap", False)]


def test_nothing_is_stopped_without_an_answer(sweep: Sweep, team: Reaping) -> None:
    ended = sweep("reap", "--stop")
    assert (ended.code, team.calls) == (2, [("reap", False)])
    assert "--yes goes ahead" in ended.err


def test_arrays_are_shown_and_asked_about(sweep: Sweep, team: Reaping, monkeypatch: pytest.MonkeyPatch) -> None:
    array = StrayArray("gone-s1-a1", "job-1", "sweep", "gone", 2, 40, "there is no run 'gone'")
    monkeypatch.setattr(team, "reap", lambda *, stop=False: Search([], 30, {}, 0, [replace(array, stopped=stop)]))
    ended = sweep("reap")
    assert " ".join(ended.out.splitlines()[1].split()) == "gone-s1-a1 sweep 2 40 there is no run 'gone' -"
    assert ended.out.splitlines()[-1] == "0 trainings that nobody waits for, in 30 Regions; 1 array"
    assert sweep("reap", "--stop").code == 2  # it asks first
    assert "asked to stop" in sweep("reap", "--stop", "--yes").out


def test_leftovers_are_shown_and_asked_about(sweep: Sweep, team: Reaping, monkeypatch: pytest.MonkeyPatch) -> None:
    left = StrayLeftover("volume", "vol-0a1", "ec2", "eu-west-1", "gone-3-1", "gone", "there is no run 'gone'")
    monkeypatch.setattr(
        team, "reap", lambda *, stop=False: Search([STRAY], 30, {}, 0, [], [replace(left, removed=stop)])
    )
    ended = sweep("reap")
    assert " ".join(ended.out.splitlines()[4].split()) == "volume vol-0a1 eu-west-1 gone-3-1 there is no run 'gone' -"
    assert ended.out.splitlines()[-1].endswith("1 leftover")
    asked: list[str] = []
    monkeypatch.setattr(reap, "confirm", lambda question, *, yes: asked.append(question))  # noqa: ARG005
    assert "removed" in sweep("reap", "--stop").out
    assert asked == ["Stop gone-3-1 in eu-west-1, and remove the volume vol-0a1?"]


def test_stop_stops_them(sweep: Sweep, team: Reaping) -> None:
    assert "asked to stop" in sweep("reap", "--stop", "--yes").out
    assert team.calls == [("reap", False), ("reap", True)]


def test_json_has_all_of_it(sweep: Sweep, team: Reaping) -> None:
    team.unseen = {"me-south-1": "not enabled"}
    shown = json.loads(sweep("reap", "--json").out)
    assert (shown["strays"][0]["usd"], shown["others"], shown["unseen"]) == (0.5, 2, {"me-south-1": "not enabled"})


def test_regions_that_could_not_be_asked_are_named(sweep: Sweep, team: Reaping) -> None:
    team.strays, team.unseen = [], {"me-south-1": "not enabled"}
    ended = sweep("reap")
    assert ended.out.startswith("0 trainings that nobody waits for")
    assert ended.code == 5
    assert ended.err == "error: not looked at: me-south-1: not enabled (what runs there for nobody is not known)\n"


def test_json_names_regions_that_could_not_be_asked(sweep: Sweep, team: Reaping) -> None:
    team.unseen = {"me-south-1": "not enabled"}
    ended = sweep("reap", "--json")
    assert (ended.code, json.loads(ended.out)["unseen"]) == (5, {"me-south-1": "not enabled"})


def test_many_regions_that_could_not_be_asked_are_counted(sweep: Sweep, team: Reaping) -> None:
    team.strays, team.unseen = [], {f"eu-west-{number}": "not enabled" for number in range(1, 31)}
    told = "not looked at: 30 Regions, such as eu-west-1: not enabled; --json names all"
    assert told in sweep("reap").err
