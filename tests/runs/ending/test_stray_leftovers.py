"""What trainings of no live run have left is told, and removed when that is asked; all else stays."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.errors import AccessDenied, InvalidRequest
from orchestrator.platforms.account.leftover import Leftover
from orchestrator.runs.ending import reap, stray_leftovers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.platforms.lives import Alive
    from tests.runs.bench import Desk


@dataclass
class Region:
    """One Region, with what is left there."""

    left: list[Leftover] = field(default_factory=list)
    refused: str = ""
    used: str = ""
    """The id of what is used again."""

    def regions(self, clients: Any) -> list[str]:  # noqa: ARG002
        return ["us-east-1"]

    def alive(self, clients: Any, region: str) -> Iterator[Alive]:  # noqa: ARG002
        return iter(())

    def leftovers(self, clients: Any, region: str) -> Iterator[Leftover]:  # noqa: ARG002
        if self.refused:
            raise AccessDenied(self.refused)
        return iter(self.left)

    def remove(self, clients: Any, leftover: Leftover) -> None:  # noqa: ARG002
        if leftover.id == self.used:
            raise InvalidRequest("it is in use")
        self.left.remove(leftover)


@pytest.fixture
def region(monkeypatch: pytest.MonkeyPatch) -> Region:
    made = Region()
    for module in (reap, stray_leftovers):
        monkeypatch.setattr(module, "make_operating", lambda _: made)
    monkeypatch.setattr(reap, "enabled_regions", lambda *_: None)
    return made


def volume(task: int, **changes: Any) -> Leftover:
    output = "s3://data-us-east-1/runs/nightly"
    name = f"nightly-{task}-1"
    return replace(Leftover("volume", f"vol-{task}", "fake", "us-east-1", name, "nightly", task, 1, output), **changes)


def search(desk: Desk, *, stop: bool = False) -> reap.Search:
    return reap.find_strays(desk.cloud(), {"fake": True}, {}, stop=stop)


@pytest.mark.usefixtures("anchor")
def test_what_a_live_run_may_use_stays(desk: Desk, region: Region) -> None:
    region.left = [volume(0), volume(1)]
    found = search(desk, stop=True).leftovers
    assert [(one.id, one.why, one.removed) for one in found] == [("vol-0", "task 0 is done", True)]
    assert [one.id for one in region.left] == ["vol-1"]


@pytest.mark.usefixtures("anchor")
def test_nothing_is_removed_unless_that_is_asked_and_nothing_twice(desk: Desk, region: Region) -> None:
    region.left = [volume(0)]
    assert [one.removed for one in search(desk).leftovers] == [False]
    assert [one.removed for one in search(desk, stop=True).leftovers] == [True]
    assert search(desk, stop=True).leftovers == []


def test_what_another_teams_run_has_left_is_theirs(desk: Desk, region: Region) -> None:
    region.left = [volume(0, output="s3://another-team/runs/nightly")]
    found = search(desk, stop=True)
    assert (found.leftovers, found.others, len(region.left)) == ([], 1, 1)


def test_what_cannot_be_removed_is_told_and_stays(desk: Desk, region: Region, caplog: pytest.LogCaptureFixture) -> None:
    region.left, region.used = [volume(0), volume(2)], "vol-0"
    found = search(desk, stop=True).leftovers
    assert [(one.id, one.removed) for one in found] == [("vol-0", False), ("vol-2", True)]
    assert "volume vol-0 in us-east-1: it is in use" in caplog.text


def test_that_nobody_may_look_for_them_is_told(desk: Desk, region: Region) -> None:
    region.refused = "could not look for Volumes"
    found = search(desk)
    assert (found.looked_in, found.unseen) == (1, {"us-east-1": "could not look for Volumes"})
