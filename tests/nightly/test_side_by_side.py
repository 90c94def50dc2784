"""Two schedules of one workload: what one trains, the other leaves out or waits for, wherever they meet."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from orchestrator.conductor.notes import Alive
from orchestrator.conductor.step import End
from orchestrator.nightly.conduct import SILENT_S, Conducted
from orchestrator.nightly.picking.under_way import UnderWay
from tests.nightly.test_nights import night, utc
from tests.nightly.world import HOUR, Killed, World

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DAY = "2026-11-21"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return make(tmp_path, monkeypatch)


def make(folder: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World.make(folder, monkeypatch)
    made.moment = utc("2026-11-20 12:00")
    made.lies("oslo", "a")
    made.lies("paris", "b")
    made.push()
    return made


def both(world: World, **weekly: str) -> None:
    world.schedule()
    world.schedule("weekly", **weekly)
    world.moment = utc(f"{DAY} 01:00")


def stop_at_sleep(what: str) -> None:
    if what == "sleep":
        raise Killed


def leave_running(world: World) -> None:
    """Let the night of `nightly` send its run, and its process go while that runs."""
    world.before = stop_at_sleep
    with pytest.raises(Killed):
        world.tick("job 1")
    world.before = lambda _: None


def speaks(world: World) -> None:
    """Its conductor is at work again, and has just said so."""
    first = world.conductor()._shelf.night("nightly", DAY)
    assert first
    world.conductor().notes(first).beat(Alive(world.moment, "it runs"))


def test_what_another_schedule_trains_now_is_left_to_it(world: World) -> None:
    both(world)
    leave_running(world)
    assert world.tick("job 2", "weekly") == [Conducted(DAY, End(0, f"skipped: nightly/{DAY} trains the same"))]
    assert len(world.trained) == 4


def test_what_nobody_trains_is_trained_meanwhile(world: World) -> None:
    both(world)
    leave_running(world)
    world.lies("rome", "c")
    (done,) = world.tick("job 2", "weekly")
    assert done.end == End(0, "2 of 2 tasks done in weekly-20261121")
    assert [each.campaign for each in world.trained[4:]] == ["rome"] * 2


def test_who_queues_waits_for_the_other_schedule_and_trains_what_is_left(world: World) -> None:
    both(world, overlap="queue")
    world.fails = lambda campaign, lr: campaign == "oslo" and lr == 0.1
    leave_running(world)
    world.fails = lambda *_: False

    def other_goes_on(what: str) -> None:
        if what == "sleep" and world.moment > utc(f"{DAY} 02:00"):
            world.before = lambda _: None
            world.tick("job 1")  # Batch has started it again

    world.before = other_goes_on
    (done,) = world.tick("job 2", "weekly")
    assert done.end == End(0, "1 of 1 tasks done in weekly-20261121")
    assert [(each.campaign, each.lr) for each in world.trained[4:]] == [("oslo", 0.1)]
    night_of_weekly = world.conductor("weekly")._shelf.night("weekly", DAY)
    assert night_of_weekly
    said = world.conductor("weekly").notes(night_of_weekly).alive()
    assert said


def test_who_trains_everything_waits_for_nobody(world: World) -> None:
    both(world, retrain="all")
    leave_running(world)
    (done,) = world.tick("job 2", "weekly")
    assert done.end == End(0, "4 of 4 tasks done in weekly-20261121")


def test_a_night_that_nobody_conducts_any_more_is_taken_up_by_the_other_schedule(world: World) -> None:
    both(world)
    leave_running(world)
    world.conductor()._shelf.delete("nightly")
    world.moment += SILENT_S + HOUR
    done = world.tick("job 2", "weekly")
    assert [each.end.why for each in done] == [
        "4 of 4 tasks done in nightly-20261121",
        "nothing new: all 4 tasks are trained already",
    ]


def test_an_ended_night_holds_nothing_and_is_forgotten(world: World) -> None:
    both(world)
    world.tick("job 1")
    assert UnderWay(world.bucket, "steering").live() == []  # type: ignore[arg-type]
    world.lies("rome", "c")
    night(world, "2026-11-22")
    assert b"2026-11-21" not in world.bucket.objects["workloads/steering/under-way.json"].body


@pytest.mark.parametrize("body", [b"[]", b'{"nights": [{"keys": [1]}]}'])
def test_a_damaged_list_is_begun_anew_and_named(world: World, body: bytes, caplog: pytest.LogCaptureFixture) -> None:
    both(world)
    world.bucket.put_once("workloads/steering/under-way.json", body)
    (done,) = world.tick("job 1")
    assert done.end.exit == 0
    assert "s3://control/workloads/steering/under-way.json: cannot be understood" in caplog.text


@pytest.mark.parametrize(
    ("at", "written", "dies"),
    [pytest.param(3, "alive.json", False, marks=pytest.mark.long), (4, "under-way.json", True)],
)
def test_two_schedules_that_meet_when_one_takes_its_tasks_train_each_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int, written: str, dies: bool
) -> None:
    """The other does all of its night just before the one writes down what it takes; or just after, and kills it."""
    assert meet(tmp_path, monkeypatch, at, dies=dies).endswith(written)


@pytest.mark.long
@pytest.mark.parametrize("dies", [False, True])
def test_two_schedules_that_meet_anywhere_train_each_task_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dies: bool
) -> None:
    """At each write of the one in turn, the other does all of its night; and the same with the first killed there."""
    meetings = 0
    while meet(tmp_path, monkeypatch, meetings, dies=dies):
        meetings += 1
    assert meetings > 15


def meet(folder: Path, monkeypatch: pytest.MonkeyPatch, at: int, *, dies: bool) -> str:
    """Play a night in which the other comes at this write of the first; return where. Nothing: no such write."""
    place = folder / f"{at}-{dies}"
    place.mkdir()
    world = make(place, monkeypatch)
    both(world)
    other: list[str] = []
    world.bucket.before = come_at(world, at, other, dies=dies)
    try:
        world.tick("job 1")
    except Killed:
        world.bucket.before = lambda _: None
        world.tick("job 1")
    assert Counter((each.campaign, each.lr) for each in world.trained) == {
        (campaign, lr): 1 for campaign in ("oslo", "paris") for lr in (0.1, 0.01)
    }, (at, dies, other)
    return other[0] if other else ""


def come_at(world: World, at: int, other: list[str], *, dies: bool) -> Callable[[str], None]:
    left = at

    def come(what: str) -> None:
        nonlocal left
        left -= what == "put"
        if left >= 0 or other:
            return
        world.bucket.before = lambda _: None
        other.append(
            max(world.bucket.objects, key=lambda key: int(world.bucket.objects[key].etag.strip('"').rpartition("-")[2]))
        )
        other.extend(done.end.why for done in world.tick("job 2", "weekly"))
        if dies:
            raise Killed

    return come
