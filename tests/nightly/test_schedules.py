"""A schedule is made, changed, paused and taken away, in the control bucket and in EventBridge Scheduler."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.errors import Damaged, NotFound, SettingsError, UsageError
from orchestrator.localcloud.services.moto import backends as moto_backends  # noqa: F401 - from then on, moto's groups keep their timers
from orchestrator.nightly import views
from orchestrator.nightly.conduct import LATE_S
from orchestrator.nightly.freeze import freeze
from orchestrator.nightly.goal import Goal
from orchestrator.nightly.schedules import Schedules
from orchestrator.nightly.shelf import Night
from orchestrator.orchestrator import Orchestrator
from orchestrator.settings.settings import Settings
from orchestrator.spec.schedule.schedule import Schedule
from orchestrator.spec.sweep import Sweep
from tests.fixtures.aws import BUCKET, REGION
from tests.nightly.world import SWEEP

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from orchestrator.aws.s3 import S3
    from orchestrator.aws.session import Clients
    from orchestrator.nightly.freeze import Frozen

ROLE = "arn:aws:iam::123456789012:role/sweep"
BERLIN = {"cron": "0 2 * * *", "timezone": "Europe/Berlin"}


def settings(**changes: Any) -> Settings:
    said = {
        "database": "sqlite://",
        "region": REGION,
        "bucket": BUCKET,
        "region_bucket": "team-{region}",
        "role": ROLE,
        "schedule_role": ROLE,
        "launcher_image": "launcher",
        "conductor_image": "conductor:1",
        "owner": "ada",
    }
    return Settings(**{**said, **changes})


@pytest.fixture
def schedules(s3: S3) -> Schedules:  # noqa: ARG001 - there is a bucket
    return Schedules(Orchestrator(settings()))


@pytest.fixture
def frozen(tmp_path: Path) -> Callable[..., Frozen]:
    folder = tmp_path / "training"
    folder.mkdir()

    def make(code: str = "print(1)\n", *, name: str = "nightly", sweep: str = "steering", **when: Any) -> Frozen:
        (folder / "train.py").write_text(code)
        made = Sweep.model_validate({**SWEEP, "name": sweep, "folder": tmp_path})
        return freeze(Orchestrator(settings()), made, Schedule.model_validate({**BERLIN, **when}), name)

    return make


def timers(clients: Clients) -> dict[str, Any]:
    scheduler = clients.client("scheduler", REGION)
    names = [each["Name"] for each in scheduler.list_schedules(GroupName="sweep")["Schedules"]]
    return {name: scheduler.get_schedule(GroupName="sweep", Name=name) for name in names}


def test_it_is_started_at_its_time_in_its_zone_and_once_a_day_in_utc(
    schedules: Schedules, frozen: Callable[..., Frozen], clients: Clients
) -> None:
    entry = schedules.create(frozen())
    made = timers(clients)
    assert {name: (each["ScheduleExpression"], each["ScheduleExpressionTimezone"]) for name, each in made.items()} == {
        "nightly": ("cron(0 2 * * ? *)", "Europe/Berlin"),
        "nightly-utc": ("cron(0 2 * * ? *)", "UTC"),  # an hour after two o'clock in winter
    }
    job = json.loads(made["nightly"]["Target"]["Input"])
    assert job["Parameters"] == {"schedule": "nightly", "tick": "<aws.scheduler.scheduled-time>"}
    assert job["JobDefinition"] == entry.definition
    (definition,) = clients.client("batch", REGION).describe_job_definitions()["jobDefinitions"]
    command = definition["containerProperties"]["command"]
    assert command == ["python", "-m", "orchestrator.nightly", BUCKET, REGION, "Ref::schedule", "Ref::tick"]
    assert schedules.is_armed(entry)


def test_the_timers_of_several_schedules_live_side_by_side(
    schedules: Schedules, frozen: Callable[..., Frozen], clients: Clients
) -> None:
    first = schedules.create(frozen())
    second = schedules.create(frozen(name="weekly", sweep="braking"))
    schedules.pause("nightly")
    schedules.resume("nightly")
    assert set(timers(clients)) == {"nightly", "nightly-utc", "weekly", "weekly-utc"}
    assert schedules.is_armed(first)
    assert schedules.is_armed(second)


def test_other_schedules_of_a_workload_are_found(s3: S3, schedules: Schedules, frozen: Callable[..., Frozen]) -> None:
    schedules.create(frozen())
    schedules.create(frozen(name="weekly", sweep="braking"))
    assert schedules.others_of(frozen().goal) == []
    assert schedules.others_of(frozen(name="sunday").goal) == ["nightly"]
    spoil(s3, "schedules/nightly/schedule.json")
    assert schedules.others_of(frozen(name="sunday").goal) == []


def test_making_it_again_changes_nothing_and_another_one_is_refused(
    schedules: Schedules, frozen: Callable[..., Frozen]
) -> None:
    assert schedules.create(frozen()) == schedules.create(frozen())
    with pytest.raises(UsageError, match="there is a schedule 'nightly' already") as refused:
        schedules.create(frozen("print(2)\n"))
    assert "sweep schedule update" in refused.value.hint


def test_an_update_says_what_changes_and_holds_from_the_next_night_on(
    schedules: Schedules, frozen: Callable[..., Frozen], clients: Clients
) -> None:
    schedules.create(frozen())
    new = frozen("print(2)\n", cron="30 3 * * *", overlap="queue")
    code, *rest = reversed(schedules.changes(new))
    assert rest == ["schedule.overlap: skip → queue", "schedule.cron: 0 2 * * * → 30 3 * * *"]
    assert code.startswith("code: ")
    entry = schedules.update(new)
    assert (entry.revision, entry.goal) == (2, new.goal.digest)
    assert timers(clients)["nightly"]["ScheduleExpression"] == "cron(30 3 * * ? *)"
    assert schedules.changes(new) == []
    assert schedules.update(new) == entry


def test_a_pause_holds_both_ticks_and_a_resume_lets_them_go(
    schedules: Schedules, frozen: Callable[..., Frozen], clients: Clients
) -> None:
    entry = schedules.create(frozen())
    schedules.pause("nightly")
    assert [each["State"] for each in timers(clients).values()] == ["DISABLED"] * 2
    assert views.show_schedule(schedules, "nightly").next_at is None
    resumed = schedules.resume("nightly")
    assert [each["State"] for each in timers(clients).values()] == ["ENABLED"] * 2
    assert resumed.since > entry.since


def test_what_is_deleted_is_gone_but_for_its_nights(
    schedules: Schedules, frozen: Callable[..., Frozen], clients: Clients
) -> None:
    schedules.create(frozen())
    night = schedules.run_now("nightly", force=False)
    schedules.delete("nightly")
    assert timers(clients) == {}
    assert views.list_schedules(schedules) == []
    assert schedules.shelf.night("nightly", night.id) == night
    with pytest.raises(UsageError, match="no schedule 'nightly'"):
        schedules.delete("nightly")


@pytest.mark.parametrize("name", ["conductor_image", "schedule_role"])
def test_what_its_job_needs_is_asked_for_and_nothing_is_made(
    s3: S3,  # noqa: ARG001
    frozen: Callable[..., Frozen],
    clients: Clients,  # noqa: ARG001
    name: str,
) -> None:
    schedules = Schedules(Orchestrator(settings(**{name: None})))
    with pytest.raises(SettingsError, match=f"{name} is not set"):
        schedules.create(frozen())
    assert schedules.shelf.names() == []


def test_a_conductor_s_image_that_is_not_there_is_told(s3: S3, frozen: Callable[..., Frozen]) -> None:  # noqa: ARG001
    image = "123456789012.dkr.ecr.{region}.amazonaws.com/sweep-conductor:1"
    schedules = Schedules(Orchestrator(settings(conductor_image=image)))
    with pytest.raises(NotFound, match=r"there is no image .*sweep-conductor:1") as told:
        schedules.create(frozen())
    assert told.value.where == "conductor_image"
    assert "sweep images push sweep-conductor:1" in told.value.hint
    assert schedules.shelf.names() == []


def test_a_bucket_that_is_gone_is_told(clients: Clients, frozen: Callable[..., Frozen]) -> None:  # noqa: ARG001
    schedules = Schedules(Orchestrator(settings(bucket="nowhere")))
    with pytest.raises(NotFound, match="nowhere"):
        schedules.create(frozen())
    with pytest.raises(NotFound, match="nowhere"):
        schedules.pause("nightly")


def test_a_password_is_stored_nowhere(tmp_path: Path) -> None:
    (tmp_path / "training").mkdir()
    (tmp_path / "training" / "train.py").write_text("print(1)\n")
    sweep = Sweep.model_validate({**SWEEP, "folder": tmp_path})
    team = Orchestrator(settings(database="postgresql://ada:s3cret@host/sweep"))
    with pytest.raises(UsageError, match="its URL has a password") as refused:
        freeze(team, sweep, Schedule.model_validate(BERLIN), "nightly")
    assert "s3cret" not in str(refused.value)
    without = Orchestrator(settings(database="postgresql://ada@host/sweep"))
    assert freeze(without, sweep, Schedule.model_validate(BERLIN), "nightly").goal.database.endswith("@host/sweep")


def test_a_night_has_the_settings_that_it_was_frozen_with(frozen: Callable[..., Frozen], tmp_path: Path) -> None:
    frozen()  # there is code
    sweep = Sweep.model_validate({**SWEEP, "folder": tmp_path})
    ours = settings(max_age="36h", poll_s=7.0, notify=("https://chat.example/hook",), owner_budget=9.5)
    made = freeze(Orchestrator(ours), sweep, Schedule.model_validate(BERLIN), "nightly").goal
    again = Goal.from_json(json.loads(json.dumps(made.to_json()))).settings("sqlite://")
    assert again == ours


@pytest.mark.parametrize("name", ["Nightly", "a" * 25, "two--hyphens", ""])
def test_a_name_that_no_run_could_have_is_refused(schedules: Schedules, name: str) -> None:
    with pytest.raises(UsageError, match="cannot name a schedule"):
        schedules.shelf.entry(name)


def test_a_night_that_nobody_began_is_an_alarm_until_one_does(
    schedules: Schedules, frozen: Callable[..., Frozen], monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = schedules.create(frozen())
    goal = schedules.goal(entry)
    due = views.next_night(goal.when, entry.since)
    monkeypatch.setattr(views.time, "time", lambda: due + LATE_S - 1)
    assert views.list_schedules(schedules)[0].alarm == ""
    monkeypatch.setattr(views.time, "time", lambda: due + LATE_S + 1)
    (row,) = views.list_schedules(schedules)
    assert "no conductor has begun it" in row.alarm
    assert row.last
    assert row.last.state == "missed"
    schedules.shelf.begin(Night(row.last.night, "nightly", entry.goal, due + LATE_S, "job"))
    (row,) = views.list_schedules(schedules)
    assert (row.alarm, row.last and row.last.state) == ("", "running")
    monkeypatch.setattr(views.time, "time", lambda: due + LATE_S + 1000)
    assert "no word of the conductor" in views.show_schedule(schedules, "nightly").alarm


def spoil(s3: S3, key: str, body: bytes = b"[]") -> None:
    s3.delete(key)
    s3.put_once(key, body)


def test_a_damaged_schedule_is_left_out_of_the_list_and_can_be_deleted(
    s3: S3, frozen: Callable[..., Frozen], clients: Clients
) -> None:
    team = Orchestrator(settings(database="sqlite://"))
    schedules = Schedules(team)
    schedules.create(frozen())
    schedules.create(frozen(name="weekly", sweep="braking"))
    spoil(s3, "schedules/weekly/schedule.json")
    assert [row.schedule for row in views.list_schedules(schedules)] == ["nightly"]
    with pytest.raises(Damaged, match=r"schedules/weekly/schedule.json cannot be understood: .*it is no JSON object"):
        team.check_damage()
    with pytest.raises(Damaged) as told:
        views.show_schedule(schedules, "weekly")
    assert "`sweep schedule delete weekly`" in told.value.hint
    schedules.delete("weekly")
    assert schedules.shelf.names() == ["nightly"]
    assert set(timers(clients)) == {"nightly", "nightly-utc"}


@pytest.mark.parametrize("gone", [False, True])
def test_a_damaged_goal_blocks_its_schedule_alone_and_an_update_mends_it(
    s3: S3, frozen: Callable[..., Frozen], gone: bool
) -> None:
    team = Orchestrator(settings())
    schedules = Schedules(team)
    entry = schedules.create(frozen())
    schedules.create(frozen(name="weekly", sweep="braking"))
    key = f"conductor/{entry.goal}/goal.json"
    night = schedules.run_now("nightly", force=False)
    s3.delete(key) if gone else spoil(s3, key)
    assert [row.schedule for row in views.list_schedules(schedules)] == ["weekly"]
    (row,) = views.history(schedules, "nightly")
    assert (row.night, row.state) == (night.id, "damaged")
    with pytest.raises(Damaged, match=key) as told:
        team.check_damage()
    assert "`sweep schedule update sweep.yaml` freezes it anew" in str(told.value)
    for attempt in (schedules.pause, schedules.resume):
        with pytest.raises(Damaged, match=key):
            attempt("nightly")
    assert not schedules.shelf.entry("nightly").paused
    new = frozen("print(2)\n")
    assert new.goal.digest in schedules.changes(new)[0]
    schedules.update(new)
    assert [row.schedule for row in views.list_schedules(Schedules(Orchestrator(settings())))] == ["nightly", "weekly"]
    schedules.delete("nightly")


def test_a_damaged_word_of_a_conductor_is_named_and_its_night_shown(s3: S3, frozen: Callable[..., Frozen]) -> None:
    team = Orchestrator(settings())
    schedules = Schedules(team)
    entry = schedules.create(frozen())
    night = schedules.run_now("nightly", force=False)
    s3.put_once(f"conductor/{entry.goal}/{night.instance}/alive.json", b"[]")
    (row,) = views.history(schedules, "nightly")
    assert (row.night, row.state) == (night.id, "running")
    with pytest.raises(Damaged, match=r"alive\.json"):
        team.check_damage()


def test_folders_that_no_schedule_could_have_made_are_somebody_else_s(
    s3: S3, schedules: Schedules, frozen: Callable[..., Frozen]
) -> None:
    schedules.create(frozen())
    s3.put_once("schedules/My Notes/schedule.json", b"hello")
    assert [row.schedule for row in views.list_schedules(schedules)] == ["nightly"]


@pytest.mark.parametrize("body", [b"[]", b"{", b'{"version": 99}'])
def test_a_damaged_night_is_shown_and_the_next_one_begins(s3: S3, frozen: Callable[..., Frozen], body: bytes) -> None:
    team = Orchestrator(settings())
    schedules = Schedules(team)
    schedules.create(frozen())
    first = schedules.run_now("nightly", force=False)
    spoil(s3, f"schedules/nightly/nights/{first.id}.json", body)
    second = schedules.run_now("nightly", force=False)
    assert second.id == f"{first.id[:-1]}2"
    assert {row.night: row.state for row in views.history(schedules, "nightly")} == {
        first.id: "damaged",
        second.id: "running",
    }
    with pytest.raises(Damaged, match=f"nights/{first.id}.json"):
        team.check_damage()
    (row,) = views.list_schedules(schedules)
    assert row.last
    assert row.last.night == second.id


def test_a_tick_goes_past_a_damaged_night_and_a_damaged_end(
    s3: S3, frozen: Callable[..., Frozen], caplog: pytest.LogCaptureFixture
) -> None:
    schedules = Schedules(Orchestrator(settings()))
    entry = schedules.create(frozen())
    damaged, ended = (schedules.run_now("nightly", force=False) for _ in range(2))
    spoil(s3, f"schedules/nightly/nights/{damaged.id}.json")
    s3.put_once(f"conductor/{entry.goal}/{ended.instance}/end.json", b"[]")
    assert list(schedules.tick("nightly")) == []
    assert [record.args[0] for record in caplog.records] == [damaged.id]  # type: ignore[index]
