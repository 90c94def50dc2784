"""What a look at a run costs in requests, counted where they leave: listings tell how tasks stand, nothing is read."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from orchestrator.aws.s3 import S3
from orchestrator.aws.session import Clients
from orchestrator.runs.known import news, sync
from orchestrator.runs.views.status import run_status
from orchestrator.wire.result import Outcome, Result, TaskState
from tests.aws.doorstep import Doorstep
from tests.runs.bench import ACCOUNT, LANES, plan

if TYPE_CHECKING:
    from orchestrator.runs.written.anchor import Anchor
    from tests.runs.bench import Desk, FakeCloud

TASKS = 10_000


@pytest.fixture
def doorstep(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Doorstep:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    return Doorstep(desk.bucket, Clients())


def through(desk: Desk, doorstep: Doorstep) -> FakeCloud:
    """Return the team's cloud, its bucket behind the doorstep."""
    cloud = desk.cloud()
    cloud.__dict__["s3"] = S3(doorstep.clients, ACCOUNT.region, ACCOUNT.bucket)
    return cloud


def look(desk: Desk, doorstep: Doorstep, anchor: Anchor, machine: str = "ours", *, documents: bool = False) -> int:
    """Sync, and count its requests alone."""
    desk.ledger(machine).remember(anchor, ACCOUNT)
    doorstep.counts.clear()
    return sync.sync(anchor, desk.ledger(machine), through(desk, doorstep), documents=documents)


def end(desk: Desk, tasks: range, state: TaskState = TaskState.DONE, hours: float = 0.0) -> None:
    """Let launchers of these tasks write how they ended, one after the other in so many hours up to now."""
    now, control = time.time(), desk.cloud().control("nightly")
    for task in tasks:
        left = hours * 3600 * (1 - (task - tasks.start) / len(tasks))
        desk.bucket.clock = lambda left=left: now - left
        outcome = Outcome(1, LANES[0], f"nightly-{task}-1", state, seconds=60.0, billable_s=60.0, usd=0.06)
        control.write_result(Result(task, "key", state, outcomes=(outcome,)))


@pytest.mark.long
def test_ten_thousand_results_are_known_by_twenty_five_listings_and_nothing_new_by_three(
    desk: Desk, doorstep: Doorstep
) -> None:
    anchor = desk.submit(desk.anchor(plan(tasks=TASKS)))
    look(desk, doorstep, anchor)
    end(desk, range(TASKS), hours=1.0)
    assert look(desk, doorstep, anchor) == TASKS
    assert doorstep.counts["list"] <= 25
    assert set(doorstep.counts) == {"list"}
    status = run_status(anchor, desk.ledger(), time.time())
    assert (status.state, status.usd) == ("done", pytest.approx(0.06 * TASKS))
    assert look(desk, doorstep, anchor) == 0
    assert doorstep.counts == {"list": 3}
    # A machine that knows nothing of it reads its submission, and lists.
    assert look(desk, doorstep, anchor, "theirs") == TASKS
    assert doorstep.counts["list"] <= 25
    assert doorstep.counts["get"] == 1
    assert run_status(anchor, desk.ledger("theirs"), time.time()) == status


def test_results_are_read_once_and_only_where_somebody_wants_more_than_their_state(
    desk: Desk, doorstep: Doorstep
) -> None:
    anchor = desk.submit()
    end(desk, range(3), TaskState.FAILED)
    look(desk, doorstep, anchor)
    assert doorstep.counts["get"] == 0
    look(desk, doorstep, anchor, documents=True)
    assert doorstep.counts["get"] == 3
    look(desk, doorstep, anchor, documents=True)
    assert doorstep.counts == {"list": 3}


def test_a_cancel_is_read_when_it_comes_and_not_again(desk: Desk, doorstep: Doorstep) -> None:
    anchor = desk.submit()
    look(desk, doorstep, anchor)
    desk.cloud().control("nightly").cancel(through=1)
    look(desk, doorstep, anchor)
    assert doorstep.counts["get"] >= 1
    assert desk.ledger().cancelled("nightly")


def test_what_nobody_told_is_found_when_all_results_are_compared(
    desk: Desk, doorstep: Doorstep, monkeypatch: pytest.MonkeyPatch
) -> None:
    anchor = desk.submit()
    look(desk, doorstep, anchor)
    end(desk, range(1))
    untell(desk)
    assert look(desk, doorstep, anchor) == 0
    later = time.time() + sync.WHOLE_EVERY_S
    monkeypatch.setattr(sync.time, "time", lambda: later)
    assert look(desk, doorstep, anchor) == 1
    assert doorstep.counts["get"] == 1
    assert desk.states(anchor) == {0: "done"}


def test_news_that_come_late_are_found_by_looking_back(
    desk: Desk, doorstep: Doorstep, monkeypatch: pytest.MonkeyPatch
) -> None:
    anchor = desk.submit()
    now = time.time()
    desk.bucket.clock = lambda: now - 60
    end(desk, range(1))
    late = {key: desk.bucket.objects.pop(key) for key in list(desk.bucket.objects) if "/news/" in key}
    desk.bucket.clock = lambda: now
    end(desk, range(1, 2))
    look(desk, doorstep, anchor)
    desk.bucket.objects |= late
    desk.ledger().save_progress("nightly", desk.ledger().progress("nightly"))
    look(desk, doorstep, anchor)
    later = now + news.LOOK_BACK_EVERY_S + 1
    monkeypatch.setattr(news.time, "time", lambda: later)
    look(desk, doorstep, anchor)
    assert desk.states(anchor) == {0: "done", 1: "done"}


def test_news_of_another_version_are_passed_over(desk: Desk, doorstep: Doorstep) -> None:
    anchor = desk.submit()
    desk.bucket.put_once("runs/nightly/news/1795000000123~2~whatever", b"")
    end(desk, range(1))
    assert look(desk, doorstep, anchor) == 1


def test_older_news_never_replace_what_is_known(desk: Desk, doorstep: Doorstep) -> None:
    anchor = desk.submit()
    end(desk, range(1))
    look(desk, doorstep, anchor)
    told = [key for key in desk.bucket.objects if "/news/" in key]
    older = told[0].replace("~done~", "~running~").rpartition("~")[0] + "~olderetag"
    desk.bucket.put_once(older, b"")
    look(desk, doorstep, anchor)
    assert desk.states(anchor) == {0: "done"}


def test_an_end_that_was_written_by_somebody_who_was_killed_before_telling_is_known_at_once(
    desk: Desk, doorstep: Doorstep
) -> None:
    anchor = desk.submit()
    look(desk, doorstep, anchor)
    desk.batch.jobs[0].statuses[0] = "FAILED"
    look(desk, doorstep, anchor, "theirs")
    untell(desk)
    look(desk, doorstep, anchor)
    assert desk.states(anchor) == {0: "failed"}


def test_a_launcher_that_finds_its_task_ended_tells_it_again(desk: Desk) -> None:
    anchor = desk.submit()
    desk.launch(anchor, 0)
    untell(desk)
    desk.launch(anchor, 0)
    assert [key for key in desk.bucket.objects if "/news/" in key and "~done~" in key]


def untell(desk: Desk) -> None:
    """Take all news away, as if their writers had been killed before they told them."""
    for key in [key for key in desk.bucket.objects if "/news/" in key]:
        del desk.bucket.objects[key]
