"""Trainings that nobody waits for are found wherever they run; what may be somebody's is left alone."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.s3 import Stored
from orchestrator.errors import AccessDenied
from orchestrator.platforms.lives import Alive
from orchestrator.runs.ending import reap
from tests.launcher.fakes import RUNNING
from tests.runs.bench import LANES, Desk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.runs.ending.reap import Search
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.wire.result import Attempt

PRICES = {LANES[0]: 3.6}


@dataclass
class Region:
    """What runs in two Regions, one of which does not answer if told so."""

    found: list[Alive] = field(default_factory=list)
    refuses: str = ""
    enabled: frozenset[str] | None = frozenset({"eu-west-1", "us-east-1", "us-west-2"})
    """Regions that the account may use; None if nobody may ask."""

    def may_be_used(self) -> frozenset[str]:
        if self.enabled is None:
            raise AccessDenied("may not ask")
        return self.enabled

    def regions(self, clients: Any) -> list[str]:  # noqa: ARG002
        return ["eu-west-1", "us-east-1"]

    def alive(self, clients: Any, region: str) -> Iterator[Alive]:  # noqa: ARG002
        if region == self.refuses:
            raise AccessDenied("may not list")
        return iter([one for one in self.found if one.lane.region == region])


def training(task: int = 0, attempt: int = 1, run: str = "nightly", **changes: Any) -> Alive:
    lane, output = LANES[0], "s3://data-us-east-1/runs/nightly"
    made = Alive(f"{run}-{task}-{attempt}", lane, 2, run, task, attempt, output, started_at=None)
    return replace(made, **changes)


@pytest.fixture
def region(monkeypatch: pytest.MonkeyPatch) -> Region:
    made = Region()
    monkeypatch.setattr(reap, "make_operating", lambda _: made)
    monkeypatch.setattr(reap, "enabled_regions", lambda *_: made.may_be_used())
    return made


def search(desk: Desk, *, stop: bool = False) -> Search:
    return reap.find_strays(desk.cloud(), {"fake": True}, PRICES, stop=stop)


def whys(desk: Desk) -> list[str]:
    return [one.why for one in search(desk).strays]


@pytest.mark.usefixtures("anchor")
def test_what_a_launcher_follows_is_no_stray(desk: Desk, region: Region) -> None:
    region.found = [training(task=1)]
    assert whys(desk) == []


@pytest.mark.usefixtures("anchor")
def test_what_runs_though_its_task_has_ended_is_one(desk: Desk, region: Region) -> None:
    region.found = [training(task=0)]
    assert whys(desk) == ["task 0 is done"]


@pytest.mark.usefixtures("anchor")
def test_what_no_launcher_has_recorded_is_one(desk: Desk, region: Region) -> None:
    region.found = [training(task=1, attempt=7)]
    assert whys(desk) == ["no launcher of run 'nightly' has recorded it"]


@pytest.mark.usefixtures("anchor")
def test_what_runs_elsewhere_under_a_recorded_name_is_one(desk: Desk, region: Region) -> None:
    region.found = [training(task=1, lane=LANES[1], output="s3://data-eu-west-1/runs/nightly")]
    assert whys(desk) == ["no launcher of run 'nightly' has recorded it"]


def test_what_a_cancel_has_left_is_one(desk: Desk, anchor: Anchor, region: Region) -> None:
    desk.cancel(anchor)
    region.found = [training(task=1)]
    assert whys(desk) == ["run 'nightly' was cancelled, and has ended"]


def test_what_a_later_attempt_has_followed_is_one(desk: Desk, anchor: Anchor, region: Region) -> None:
    first = json.loads(desk.bucket.objects[anchor.keys.attempt(1, 1)].body)
    second = first | {"number": 2, "training": "nightly-1-2"}
    desk.bucket.objects[anchor.keys.attempt(1, 2)] = Stored(json.dumps(second).encode(), '"2"')
    region.found = [training(task=1)]
    assert whys(desk) == ["attempt 2 of task 1 came after it"]


def test_what_belongs_to_no_run_is_one_if_it_writes_into_our_bucket(desk: Desk, region: Region) -> None:
    region.found = [training(run="gone"), training(run="theirs", output="s3://another-team/runs/theirs")]
    found = search(desk, stop=True)
    assert [one.why for one in found.strays] == ["there is no run 'gone'"]
    assert found.others == 1


def test_a_name_that_can_be_no_runs_is_asked_for_nowhere(desk: Desk, region: Region) -> None:
    region.found = [training(run="../../runs/nightly")]
    assert whys(desk) == ["there is no run '../../runs/nightly'"]


def test_it_is_told_what_it_costs_or_that_nobody_knows(
    desk: Desk, region: Region, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reap.time, "time", lambda: 10_000.0)
    region.found = [
        training(run="gone", started_at=6_400.0),
        training(run="gone", started_at=6_400.0, lane=LANES[1], output="s3://data-eu-west-1/x"),
    ]
    dear, unknown = sorted(search(desk).strays, key=lambda one: one.usd is None)
    assert (dear.seconds, dear.usd, dear.usd_per_hour) == (3600.0, 7.2, 7.2)
    assert (unknown.seconds, unknown.usd) == (3600.0, None)


def test_a_region_that_does_not_answer_is_named(desk: Desk, region: Region) -> None:
    region.refuses = "us-east-1"
    region.found = [training(run="gone")]
    found = search(desk)
    assert (found.strays, found.looked_in, found.unseen) == ([], 1, {"us-east-1": "may not list"})


def test_what_is_stopped_is_told_where_it_leaves_things(
    desk: Desk, region: Region, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A platform that forgets its trainings has written there what it knows of them."""
    stopped: list[Attempt] = []
    monkeypatch.setattr(desk.platform, "stop", stopped.append)
    region.found = [training(run="nobodys")]
    search(desk, stop=True)
    assert [one.output for one in stopped] == [region.found[0].output]


@pytest.mark.usefixtures("anchor")
def test_only_strays_are_stopped_and_only_when_asked(desk: Desk, region: Region) -> None:
    region.found = [training(task=0), training(task=1)]
    desk.platform.trainings["us-east-1", "nightly-0-1"].looks = [RUNNING]
    assert not any(one.stopped for one in search(desk).strays)
    assert desk.platform.alive == ["nightly-0-1", "nightly-1-1"]
    assert [(one.training, one.stopped) for one in search(desk, stop=True).strays] == [("nightly-0-1", True)]
    assert [name for name, one in desk.platform.trainings.items() if one.stopped] == [("us-east-1", "nightly-0-1")]


@pytest.mark.usefixtures("anchor")
def test_an_ending_that_was_written_a_moment_ago_is_waited_for(
    desk: Desk, region: Region, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reap.time, "time", lambda: desk.time.now + 60)
    region.found = [training(task=0)]
    assert whys(desk) == []


def test_only_regions_that_the_account_may_use_are_asked(desk: Desk, region: Region) -> None:
    region.refuses = "eu-west-1"
    region.enabled = frozenset({"us-east-1"})
    found = search(desk)
    assert (found.looked_in, found.unseen) == (1, {})


def test_all_regions_are_asked_where_nobody_may_ask_which_may_be_used(desk: Desk, region: Region) -> None:
    region.enabled = None
    assert search(desk).looked_in == 2


def test_a_platform_that_nobody_has_set_up_is_looked_at_and_its_refusal_is_no_news(desk: Desk, region: Region) -> None:
    region.refuses = "us-east-1"
    region.found = [training(run="gone", lane=LANES[1], output="s3://data-eu-west-1/x")]
    found = reap.find_strays(desk.cloud(), {"another": False}, PRICES, stop=False)
    assert ([one.run for one in found.strays], found.looked_in, found.unseen) == (["gone"], 1, {})


def test_a_region_counts_once_however_many_platforms_there_are(desk: Desk, region: Region) -> None:
    region.found = []
    assert reap.find_strays(desk.cloud(), {"fake": True, "another": False}, PRICES, stop=False).looked_in == 2
