"""Nights on a catalog that was pushed: what is new is trained, once, whatever happens to who conducts it."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

import pytest

from orchestrator.conductor.notes import Alive
from orchestrator.conductor.step import End
from orchestrator.errors import OverBudget, Refused
from orchestrator.nightly.conduct import SILENT_S, Conducted
from orchestrator.nightly.shelf import Shelf
from tests.nightly.world import HOUR, Killed, World

if TYPE_CHECKING:
    from pathlib import Path

DAY = 24 * HOUR


def utc(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp()


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World.make(tmp_path, monkeypatch)
    made.moment = utc("2026-11-20 12:00")
    made.lies("oslo", "a", "eu-central-1", "eu-west-1")
    made.lies("paris", "b", "eu-west-1")
    return made


def night(world: World, day: str) -> list[Conducted]:
    world.moment = utc(f"{day} 01:00")
    return world.tick()


def test_the_first_night_trains_everything_and_the_next_nothing(world: World) -> None:
    world.schedule()
    assert night(world, "2026-11-21") == [Conducted("2026-11-21", End(0, "4 of 4 tasks done in nightly-20261121"))]
    assert night(world, "2026-11-22") == [
        Conducted("2026-11-22", End(0, "nothing new: all 4 tasks are trained already"))
    ]
    assert (world.submits, len(world.trained)) == (1, 4)


def test_a_night_is_begun_once_however_often_it_ticks(world: World) -> None:
    world.schedule()
    assert len(night(world, "2026-11-21")) == 1
    world.moment += HOUR
    assert world.tick("another job") == []


def test_nothing_is_due_before_its_time(world: World) -> None:
    world.schedule()
    world.moment = utc("2026-11-21 00:59")
    assert world.tick() == []


def test_new_bytes_under_one_name_are_trained(world: World) -> None:
    world.schedule()
    night(world, "2026-11-21")
    world.lies("paris", "c", "eu-west-1")
    night(world, "2026-11-22")
    assert [(each.campaign, each.content) for each in world.trained[4:]] == [("paris", "c")] * 2


def test_a_moved_tag_and_changed_code_train_everything_again(world: World) -> None:
    world.schedule()
    night(world, "2026-11-21")
    world.image = "sha256:2"
    night(world, "2026-11-22")
    assert len(world.trained) == 8
    world.write_code("print('loss=2')\n")
    night(world, "2026-11-23")
    assert len(world.trained) == 8  # what runs is frozen: nobody has said that the schedule is another one
    world.schedule()
    night(world, "2026-11-24")
    assert len(world.trained) == 12


def test_what_failed_is_trained_the_next_night_alone(world: World) -> None:
    world.schedule()
    world.fails = lambda campaign, lr: campaign == "oslo" and lr == 0.1
    (first,) = night(world, "2026-11-21")
    assert first.end == End(5, "3 of 4 tasks done in nightly-20261121")
    world.fails = lambda *_: False
    night(world, "2026-11-22")
    assert [(each.campaign, each.lr) for each in world.trained[4:]] == [("oslo", 0.1)]


def test_two_kinds_of_gaps_are_two_runs_of_one_night(world: World) -> None:
    world.schedule()
    world.fails = lambda campaign, lr: campaign == "oslo" and lr == 0.1
    night(world, "2026-11-21")
    world.lies("rome", "d")
    (second,) = night(world, "2026-11-22")
    assert second.end == End(5, "2 of 3 tasks done in nightly-20261122, nightly-20261122-p2")


def test_a_region_that_does_not_answer_is_left_out_and_its_data_trained_when_it_does(world: World) -> None:
    world.schedule()
    world.down = {"eu-west-1"}
    (first,) = night(world, "2026-11-21")
    assert first.end.exit == 0
    assert {each.campaign for each in world.trained} == {"oslo"}
    world.down = set()
    night(world, "2026-11-22")
    assert [each.campaign for each in world.trained[2:]] == ["paris"] * 2  # and oslo is known by its other replica too


def test_the_replica_that_speaks_for_data_may_be_away(world: World) -> None:
    world.schedule()
    night(world, "2026-11-21")
    world.down = {"eu-central-1"}
    (second,) = night(world, "2026-11-22")
    assert second.end.why == "nothing new: all 4 tasks are trained already"


def test_all_and_force_train_everything(world: World) -> None:
    world.schedule(retrain="all")
    night(world, "2026-11-21")
    night(world, "2026-11-22")
    assert len(world.trained) == 8
    world.schedule()
    forced = world.conductor().now("ada", force=True)
    assert forced.id == "2026-11-22-r1"
    world.conductor().conduct(forced)
    assert len(world.trained) == 12
    assert "nightly-20261122-r1" in world.runs


def test_a_query_names_the_datasets(world: World) -> None:
    (world.folder / "new.sql").write_text("SELECT dataset FROM replicas WHERE region = 'eu-central-1'")
    world.schedule(retrain={"query": "new.sql"})
    night(world, "2026-11-21")
    assert {each.campaign for each in world.trained} == {"oslo"}


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT dataset FROM nowhere", "schedule.retrain.query: the query fails: no such table: nowhere"),
        ("SELECT 'bonn@1' AS dataset", "the query names 'bonn@1', which the sweep's `data` does not select"),
        ("SELECT 1 AS one", "the query has no column `dataset`"),
    ],
)
def test_a_wrong_query_is_told_and_nothing_is_half_done(world: World, query: str, said: str) -> None:
    (world.folder / "new.sql").write_text(query)
    world.schedule(retrain={"query": "new.sql"})
    (done,) = night(world, "2026-11-21")
    assert (done.end.exit, said in done.end.why) == (2, True)
    assert world.submits == 0


def test_no_catalog_is_told(world: World) -> None:
    world.schedule()
    world.push()
    world.bucket.delete("catalog/newest.json")
    (done,) = night(world, "2026-11-21")
    assert done.end.exit == 2
    assert "no catalog was pushed yet" in done.end.why


def lives(world: World, day: str, at: str = "") -> int:
    """Conduct a night with a process that dies at its first put, then one at its second, and so on; count them."""
    world.moment = utc(f"{day} 01:00")
    for life in range(1, 200):
        left = life

        def die(what: str) -> None:
            nonlocal left
            left -= what in ("put", "submit", "submitted", "sleep")
            if left < 0:
                raise Killed

        world.before = world.bucket.before = die
        try:
            world.tick(at or f"job {day}")
        except Killed:
            continue
        finally:
            world.before = world.bucket.before = lambda _: None
        return life
    raise AssertionError("it never ends")


def test_a_conductor_that_is_killed_at_every_put_trains_each_task_once(world: World) -> None:
    world.schedule()
    world.push()
    assert lives(world, "2026-11-21") > 10
    assert (world.submits, len(world.trained)) == (1, 4)
    assert night(world, "2026-11-22")[0].end.why.startswith("nothing new")


def test_a_night_that_was_given_up_is_taken_up_by_the_next_tick(world: World) -> None:
    world.schedule()

    def die(what: str) -> None:
        if what == "submitted":
            raise Killed

    world.before = die
    world.moment = utc("2026-11-21 01:00")
    with pytest.raises(Killed):
        world.tick("job 1")
    world.before = lambda _: None
    world.moment += 60
    assert world.tick("job 2") == []  # it may be at work still
    world.moment += SILENT_S
    assert [done.night for done in world.tick("job 2")] == ["2026-11-21"]
    assert len(world.trained) == 4


def busy(world: World) -> None:
    """A night that runs, whose conductor is at work: it spoke a moment ago."""

    def die(what: str) -> None:
        if what == "sleep":
            raise Killed

    world.before = die
    world.moment = utc("2026-11-21 01:00")
    with pytest.raises(Killed):
        world.tick("job 1")
    world.before = lambda _: None
    run = world.runs["nightly-20261121"]
    run.ends_at = utc("2026-11-22 05:00")
    world.moment = utc("2026-11-22 01:00")
    first = Shelf(world.bucket).night("nightly", "2026-11-21")  # type: ignore[arg-type]
    assert first
    world.conductor().notes(first).beat(Alive(world.moment, "it runs"))
    world.lies("rome", "d")


def test_a_night_is_skipped_while_another_one_runs(world: World) -> None:
    world.schedule()
    busy(world)
    assert world.tick("job 2") == [Conducted("2026-11-22", End(0, "skipped: 2026-11-21 still runs"))]
    assert world.submits == 1


def test_a_night_that_replaces_cancels_what_still_runs(world: World) -> None:
    world.schedule(overlap="replace")
    busy(world)
    (second,) = world.tick("job 2")
    assert second.end == End(0, "6 of 6 tasks done in nightly-20261122")
    world.moment += SILENT_S
    assert [(done.night, done.end.why) for done in world.tick("job 1")] == [("2026-11-21", "replaced by 2026-11-22")]
    assert world.cancelled == ["nightly-20261121"]


def test_a_night_that_queues_waits_for_the_other(world: World) -> None:
    world.schedule(overlap="queue")
    busy(world)
    world.moment += SILENT_S + 60  # and the other's conductor is gone: it is taken up first
    done = world.tick("job 2")
    assert [each.night for each in done] == ["2026-11-21", "2026-11-22"]
    assert [each.campaign for each in world.trained[4:]] == ["rome"] * 2


def test_a_paused_schedule_begins_nothing_and_what_was_due_meanwhile_is_left_out(world: World) -> None:
    world.schedule()
    shelf = Shelf(world.bucket)  # type: ignore[arg-type]
    shelf.change("nightly", paused=True)
    assert night(world, "2026-11-21") == []
    shelf.change("nightly", paused=False, since=world.moment + HOUR)
    world.moment += HOUR
    assert world.tick() == []
    assert len(night(world, "2026-11-22")) == 1


def test_ended_runs_are_settled_and_told_and_the_best_is_held_against_the_champion(world: World) -> None:
    world.schedule(sweep={"promote": {}})
    (done,) = night(world, "2026-11-21")
    assert done.end == End(0, "4 of 4 tasks done in nightly-20261121; promoted: task 0 of nightly-20261121")
    assert world.closed == ["nightly-20261121"]
    assert world.judged == [("nightly-20261121", "nightly-2026-11-21")]
    assert world.alarms == []


def test_whoever_holds_a_run_against_the_champion_knows_it_though_another_process_has_recorded_it(world: World) -> None:
    world.schedule(sweep={"promote": {}})

    def die(what: str) -> None:
        if what == "judge":
            raise Killed

    world.before = die
    with pytest.raises(Killed):
        night(world, "2026-11-21")
    world.before = lambda _: None
    world.tick()
    assert world.judged == [("nightly-20261121", "nightly-2026-11-21")]


def test_without_rules_nothing_is_promoted(world: World) -> None:
    world.schedule()
    night(world, "2026-11-21")
    assert world.judged == []


def test_a_challenger_without_its_metric_is_told_and_what_was_trained_stays(world: World) -> None:
    world.schedule(sweep={"promote": {}})
    world.unmeasured = True
    (done,) = night(world, "2026-11-21")
    said = "4 of 4 tasks done in nightly-20261121; not judged: task 0 has no val_loss"
    assert (done.end.exit, done.end.why.startswith(said)) == (5, True)
    assert world.alarms == [("2026-11-21", done.end.why)]
    assert night(world, "2026-11-22")[0].end.why.startswith("nothing new")


def test_a_night_that_no_budget_can_pay_ends_with_6_and_the_next_one_trains_it(world: World) -> None:
    world.schedule()
    world.refusal = OverBudget("$0.80 are too much", hint="it resumes on 2026-12-01")
    (done,) = night(world, "2026-11-21")
    assert done.end == End(6, "$0.80 are too much (it resumes on 2026-12-01)")
    assert world.moment == utc("2026-11-21 01:00")  # nobody waits for it
    world.refusal = None
    assert night(world, "2026-11-22")[0].end.exit == 0


def test_a_stale_plan_is_made_anew_a_while_later(world: World) -> None:
    world.schedule()
    world.refusal = Refused("plan x is stale: places are gone")

    def mend(what: str) -> None:
        if what == "sleep" and world.moment > utc("2026-11-21 01:20"):
            world.refusal = None

    world.before = mend
    (done,) = night(world, "2026-11-21")
    assert done.end.exit == 0
    assert len([key for key in world.bucket.objects if "/plans/" in key]) == 4
    assert world.submits == 1


def test_a_night_that_begins_late_and_one_that_fails_raise_an_alarm(world: World) -> None:
    world.schedule()
    world.moment = utc("2026-11-21 03:00")
    world.tick()
    assert world.alarms == [("2026-11-21", "no conductor began it at its time; it began 120 minutes late")]
    world.bucket.delete("catalog/newest.json")
    world.lies("rome", "x")
    world.pushed = True
    (failed,) = night(world, "2026-11-22")
    assert world.alarms[1:] == [("2026-11-22", failed.end.why)]


def test_a_tick_looks_whether_the_runs_of_earlier_nights_are_stuck(world: World) -> None:
    world.schedule()
    busy(world)
    assert world.looked_at == []
    world.tick("job 2")
    assert world.looked_at == ["nightly-20261121"]
    world.moment = utc("2026-11-22 07:00")
    world.tick("job 1")  # it goes on with its own, and sees it end
    world.looked_at.clear()
    night(world, "2026-11-23")
    assert world.looked_at == []
