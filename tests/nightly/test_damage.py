"""What is damaged blocks itself alone: the other nights and schedules go on, and each is told with the way out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.errors import Damaged, Throttled
from orchestrator.nightly.conduct import SILENT_S
from tests.nightly.test_nights import busy, night, utc
from tests.nightly.world import HOUR, Killed, World

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.nightly.conduct import Conducted
    from orchestrator.nightly.shelf import Night


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World.make(tmp_path, monkeypatch)
    made.moment = utc("2026-11-20 12:00")
    made.lies("oslo", "a")
    return made


def spoil(world: World, key: str, body: bytes = b"[]") -> None:
    assert key in world.bucket.objects
    world.bucket.delete(key)
    world.bucket.put_once(key, body)


def key_of(world: World, end: str) -> str:
    return next(key for key in world.bucket.objects if key.endswith(end))


@pytest.mark.parametrize(
    "what", ["goal.json", "notes/1.json", pytest.param("notes/2.done.json", marks=pytest.mark.long)]
)
def test_an_old_night_that_nobody_can_go_on_with_blocks_no_later_one(
    world: World, what: str, caplog: pytest.LogCaptureFixture
) -> None:
    old = world.schedule().goal
    busy(world)
    spoil(world, f"conductor/{old}/{what}" if what == "goal.json" else key_of(world, what))
    world.write_code("print('loss=3')\n")
    world.schedule()
    world.moment += SILENT_S + HOUR
    (done,) = world.tick("job 2")
    assert done.night == "2026-11-22"
    assert done.end.exit == 0
    assert "the night 2026-11-21 is left out" in caplog.text
    assert what in caplog.text
    assert night(world, "2026-11-23")[0].end.why.startswith("nothing new")


def test_a_goal_that_is_gone_is_told_with_the_way_out(world: World) -> None:
    goal = world.schedule().goal
    world.bucket.delete(f"conductor/{goal}/goal.json")
    with pytest.raises(Damaged, match="is gone") as told:
        night(world, "2026-11-21")
    assert "`sweep schedule update sweep.yaml` freezes it anew" in told.value.hint
    spoilt = world.schedule("weekly").goal
    spoil(world, f"conductor/{spoilt}/goal.json")
    with pytest.raises(Damaged) as damaged:
        world.tick("job 1", "weekly")
    assert "`sweep schedule update sweep.yaml` freezes it anew" in damaged.value.hint


def test_a_damaged_word_of_a_conductor_is_none(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.schedule()
    busy(world)
    world.data.pop("rome")
    spoil(world, key_of(world, "alive.json"))
    world.moment = utc("2026-11-21 01:10")
    assert world.tick("job 2") == []  # it began ten minutes ago: it may be at work still
    world.moment += SILENT_S
    assert [done.night for done in world.tick("job 2")] == ["2026-11-21"]
    assert "alive.json: cannot be understood" in caplog.text


def test_what_was_trained_and_cannot_be_read_is_told_with_the_way_out(world: World) -> None:
    world.schedule()
    night(world, "2026-11-21")
    spoil(world, "workloads/steering/trained/nightly-20261121.json")
    (done,) = night(world, "2026-11-22")
    assert done.end.exit == 5
    assert "s3://control/workloads/steering/trained/nightly-20261121.json: cannot be understood" in done.end.why
    assert "delete it, and what it names is trained again" in done.end.why


def test_the_newest_night_begins_though_an_older_one_cannot_be_gone_on_with(world: World) -> None:
    """The database of the old goal is away, say: that is told when the others are through."""
    world.schedule()

    def die(what: str) -> None:
        if what == "submitted":
            raise Killed

    world.before = die
    world.moment = utc("2026-11-21 01:00")
    with pytest.raises(Killed):
        world.tick("job 1")
    world.before = lambda _: None
    world.moment = utc("2026-11-22 01:00")
    conductor, broken = world.conductor(), Throttled("slow down", where="nightly-20261121")
    conduct = conductor.conduct

    def fail_first(one: Night) -> Conducted:
        if one.id == "2026-11-21":
            raise broken
        return conduct(one)

    conductor.conduct = fail_first  # type: ignore[method-assign]
    ended = []
    with pytest.raises(Throttled) as told:  # noqa: PT012 - what came before it is told, too
        for done in conductor.tick("job 2"):
            ended.append(done.night)
    assert (ended, told.value) == (["2026-11-22"], broken)


def test_a_damaged_night_of_another_schedule_holds_nothing(world: World) -> None:
    world.schedule()
    world.schedule("weekly")
    busy(world)
    spoil(world, "schedules/nightly/nights/2026-11-21.json")
    (done,) = world.tick("job 2", "weekly")
    assert done.end.exit == 0
    assert "weekly-20261122" in world.runs
