"""What holds a run up is told with its numbers and with what to do; what goes well is not told."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.jobs.batch import ResourceUse
from orchestrator.errors import QuotaExceeded, Throttled
from orchestrator.plan.facts import QuotaFact
from orchestrator.runs.run import Run
from orchestrator.runs.why.findings import Hindrance, find_causes
from orchestrator.runs.written.anchor import submissions
from orchestrator.wire.result import Cause, Outcome, Result, TaskState
from orchestrator.wire.task import Purchase, Quota
from tests.launcher.fakes import RUNNING, Life, failed
from tests.runs.bench import ACCOUNT, LANES, Desk, plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.errors import SweepError
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.wire.result import Attempt

HOUR = 3600.0


def crowded(desk: Desk, tasks: int = 3) -> Anchor:
    """Return a run whose tasks wait for two slots."""
    made = replace(plan(tasks=tasks, slots=2), quotas=(QuotaFact(Quota("fake", "us-east-1", "own"), 2),))
    return desk.submit(desk.anchor(made))


def causes(desk: Desk, anchor: Anchor, after: float = 0.0) -> list[Hindrance]:
    desk.sync(anchor)
    made = list(submissions(desk.bucket, anchor.name))
    return find_causes(anchor, made, desk.ledger(), desk.cloud(), desk.time.now + after)


def begun(desk: Desk, anchor: Anchor, task: int, steps: int = 3) -> None:
    driver = desk.launcher(anchor, task)
    driver._load()
    for _ in range(steps):
        driver._take_step()


def test_tasks_that_wait_for_slots_are_told_with_those_who_hold_them(desk: Desk) -> None:
    anchor = crowded(desk)
    desk.batch.used["sweep-fake-us-east-1-own"] = ResourceUse(2, 2)
    (found,) = causes(desk, anchor, after=HOUR)
    assert found.tasks == 3
    assert "since 60 min" in found.what
    assert "2 of 2 units of own in us-east-1 are in use (held by nightly: 2), each task needs 1" in found.what
    assert "quota" in found.hint


def test_where_batch_counts_nothing_that_is_said(desk: Desk) -> None:
    anchor = crowded(desk)
    assert "an unknown number of 2 units of own" in causes(desk, anchor)[0].what


def test_tasks_that_wait_for_launchers_send_people_to_batch(desk: Desk) -> None:
    (found,) = causes(desk, desk.submit())
    assert "no room for their launchers" in found.what
    assert "compute environment" in found.hint


def test_a_retry_is_not_advised_where_no_dollars_are_left_for_one(desk: Desk) -> None:
    made = plan(tasks=1)
    envelopes = tuple(replace(share, limits=replace(share.limits, envelope=1.9)) for share in made.shares)
    anchor = desk.submit(desk.anchor(replace(made, shares=envelopes)))
    desk.platform.lives = [Life(looks=[failed(Cause.TASK)])]
    desk.launch(anchor, 0)
    (found,) = causes(desk, anchor)
    assert "no retry is paid for: a task's dollars are for its whole life" in found.hint
    assert "sweep retry" not in found.hint


def test_failures_are_told_by_their_reasons_the_most_frequent_first(desk: Desk) -> None:
    anchor = desk.submit()
    desk.platform.lives = [Life(looks=[failed(Cause.TASK)])]
    for task in range(3):
        desk.launch(anchor, task)
    (found,) = causes(desk, anchor)
    assert (found.tasks, found.examples) == (3, "0-2")
    assert found.what.startswith("failed: ")
    assert "`sweep logs nightly --task 0`" in found.hint
    assert "`sweep retry nightly`" in found.hint


def test_failures_that_differ_in_numbers_only_are_one_and_none_is_left_out(desk: Desk) -> None:
    anchor = desk.submit(desk.anchor(plan(tasks=9)))
    for task in range(9):
        reason = f"no column in part {task}" if task < 3 else "broken " * task
        desk.cloud().control(anchor.name).write_result(Result(task, "key", TaskState.FAILED, reason))
    found = [one for one in causes(desk, anchor) if one.what.startswith("failed")]
    assert [one.tasks for one in found] == [3, 1, 1, 1, 1, 2]
    assert found[-1].what == "failed for other reasons"


def test_a_place_without_capacity_is_named_with_how_often_it_was_asked(desk: Desk) -> None:
    anchor = desk.submit(desk.anchor(plan(tasks=1)))
    desk.platform.lives = [Life(looks=[failed(Cause.CAPACITY)])] * 9
    desk.launch(anchor, 0)
    found = next(one for one in causes(desk, anchor) if "had no capacity" in one.what)
    assert found.what.startswith("fake/us-east-1/ml.g5.xlarge/spot had no capacity, ")


@pytest.mark.parametrize(
    ("where", "more"),
    [
        ({}, "platforms or instance types"),
        ({"purchases": [Purchase.SPOT]}, "platforms, instance types or `on_demand`"),
        ({"regions": ["us-east-1"]}, "Regions, platforms or instance types"),
    ],
)
def test_what_is_allowed_already_is_not_advised(desk: Desk, where: dict[str, Any], more: str) -> None:
    made = plan(tasks=1)
    allowed = made.sweep.where.model_copy(update={"purchases": list(Purchase)[:2], "regions": [], **where})
    made = replace(made, sweep=made.sweep.model_copy(update={"where": allowed}))
    anchor = desk.submit(desk.anchor(made))
    desk.platform.lives = [Life(looks=[failed(Cause.CAPACITY)])] * 9
    desk.launch(anchor, 0)
    found = next(one for one in causes(desk, anchor) if "had no capacity" in one.what)
    assert found.hint == f"allow more {more} under `where`, or a longer `patience`"


@pytest.mark.parametrize(
    ("refusal", "what", "hint"),
    [
        (Throttled("Rate exceeded"), "AWS refuses for now: Rate exceeded", "launchers ask again by themselves"),
        (
            QuotaExceeded("the limit of 4 is reached"),
            "wait for quota of own in us-east-1, for ml.g5.xlarge spot in us-east-1: the limit of 4 is reached",
            "launchers ask again by themselves, and begin when there is room; "
            "`sweep quotas own --region us-east-1 --raise-to UNITS` tells how to ask AWS for more",
        ),
    ],
)
def test_a_start_that_is_refused_for_now_is_told_with_the_quota_if_it_is_one(
    desk: Desk, refusal: SweepError, what: str, hint: str
) -> None:
    anchor = crowded(desk, tasks=1)
    desk.platform.lives = [Life(refusals=[refusal] * 9)]
    driver = desk.launcher(anchor, 0)
    driver._load()
    driver._take_step()
    with pytest.raises(type(refusal)):
        driver._take_step()
    found = causes(desk, anchor)[0]
    assert (found.tasks, found.what, found.hint) == (1, what, hint)


def test_what_keeps_a_started_training_from_beginning_is_told_in_its_platform_s_words(desk: Desk) -> None:
    anchor = desk.submit(desk.anchor(plan(tasks=2)))
    waits = Outcome(1, LANES[0], "nightly-0-1", TaskState.STARTING, waits_for="there is no queue x")
    for task in range(2):
        result = Result(task, "key", TaskState.STARTING, outcomes=(waits,))
        desk.cloud().control(anchor.name).write_result(result)
    (found,) = [one for one in causes(desk, anchor) if one.what.startswith("not begun")]
    assert (found.tasks, found.what, found.examples) == (2, "not begun: there is no queue x", "0-1")
    run = Run(anchor, desk.ledger(), desk.cloud)
    assert {row.reason for row in run.results()} == {"there is no queue x"}


def test_a_launcher_that_runs_and_writes_nothing_is_silent(desk: Desk) -> None:
    anchor = desk.submit()
    desk.batch.jobs[0].statuses[1] = "RUNNING"
    desk.batch.jobs[0].started[1] = desk.time.now
    assert not any("written nothing down" in found.what for found in causes(desk, anchor, after=600))
    silent = next(found for found in causes(desk, anchor, after=1200) if "written nothing down" in found.what)
    assert (silent.tasks, silent.examples) == (1, "1")
    assert "for up to 20 min" in silent.what


def test_a_training_that_runs_far_longer_than_planned_or_writes_nothing_is_told(desk: Desk) -> None:
    anchor = desk.submit(desk.anchor(plan(tasks=1)))
    desk.platform.lives = [Life(looks=[RUNNING])]
    desk.platform.started_at = desk.time.now
    begun(desk, anchor, 0)
    assert causes(desk, anchor, after=600) == []
    slow, silent = causes(desk, anchor, after=2700.5)
    assert "task 0 for 46 min instead of 30 min" in slow.what
    assert "time-out" in slow.hint
    assert "its log has no line" in silent.what
    desk.platform.written["nightly-0-1"] = ["epoch 1"]
    assert len(causes(desk, anchor, after=2700.5)) == 1


def test_trainings_that_fell_silent_are_told_since_when(desk: Desk) -> None:
    desk.platform.lives = [Life(looks=[RUNNING])]
    anchor = desk.submit(desk.anchor(plan(tasks=1)))
    desk.platform.written["nightly-0-1"] = ["epoch 1"]
    driver = desk.launcher(anchor, 0)
    driver._load()
    while desk.time.now < 1_000_000 + 3000:
        driver._take_step()
    (silent,) = [one for one in causes(desk, anchor) if "no new line" in one.what]
    assert silent.what.startswith("their logs have had no new line for up to ")
    assert (silent.tasks, silent.examples) == (1, "0")
    assert "`sweep logs nightly --task 0`" in silent.hint


def test_a_training_that_has_lost_its_machines_waits_for_others_and_has_not_fallen_silent(desk: Desk) -> None:
    anchor = desk.submit(desk.anchor(plan(tasks=1)))
    desk.platform.lives = [Life(looks=[RUNNING])]
    desk.platform.started_at = began = desk.time.now
    driver = desk.launcher(anchor, 0)
    driver._load()
    poll = desk.platform.poll

    def lose(attempt: Attempt) -> Outcome | None:
        outcome = poll(attempt)
        return replace(outcome, lost_at=began + 60) if outcome and desk.time.now > began + 60 else outcome

    desk.platform.poll = lose  # type: ignore[method-assign]
    while desk.time.now < began + 3000:
        driver._take_step()
    (found,) = causes(desk, anchor, after=began + 3660 - desk.time.now)
    assert found.what == "lost their machines on spot, and wait for others for up to 60 min"
    assert (found.tasks, found.examples) == (1, "0")
    assert "cost nothing" in found.hint


def test_a_task_whose_checkpoint_is_on_its_way_is_told_in_its_launchers_words(desk: Desk) -> None:
    anchor = desk.submit(desk.anchor(plan(tasks=1)))
    reason = "its checkpoint of 3 GB is brought from us-east-1 to eu-west-1"
    begun(desk, anchor, 0)
    (attempt,) = desk.cloud().control(anchor.name).attempts(0)
    ended = Outcome(1, attempt.lane, attempt.training, TaskState.FAILED, Cause.INTERRUPTED, started_at=desk.time.now)
    desk.cloud().control(anchor.name).write_result(Result(0, "key", TaskState.RUNNING, reason, (ended,)))
    (found,) = causes(desk, anchor, after=4 * HOUR)
    assert (found.tasks, found.what, found.examples) == (1, reason, "0")


def test_away_from_its_home_batch_is_not_asked_and_that_is_said(desk: Desk) -> None:
    anchor = crowded(desk)
    desk.sync(anchor)
    made = list(submissions(desk.bucket, anchor.name))
    calls = desk.batch.calls.copy()
    found = find_causes(anchor, made, desk.ledger(), desk.cloud(region="eu-west-1"), desk.time.now)
    assert found[0].what == "Batch was not asked: its launchers are in us-east-1, not in eu-west-1"
    assert desk.batch.calls == calls


def test_what_goes_well_is_not_told(desk: Desk) -> None:
    anchor = desk.submit()
    for task in range(3):
        desk.launch(anchor, task)
    desk.ledger().remember(anchor, ACCOUNT)
    run = Run(anchor, desk.ledger(), desk.cloud)
    run.sync()
    assert run.why() == []


def test_a_run_whose_submit_was_killed_is_told_how_to_go_on(desk: Desk) -> None:
    anchor = desk.anchor()
    (found,) = find_causes(anchor, [], desk.ledger(), desk.cloud(), desk.time.now)
    assert (found.tasks, found.what) == (3, "nothing was submitted yet")


class Killed(BaseException):
    """As SIGKILL would: nothing after it runs."""


def killed_before_it_sends(desk: Desk, kill: Callable[[], object]) -> None:
    def deadly(what: str) -> None:
        if what == "submit":
            raise Killed

    desk.batch.before = deadly
    with pytest.raises(Killed):
        kill()
    desk.batch.before = lambda _: None


def test_tasks_that_a_killed_submit_never_sent_are_told_with_what_sends_them(desk: Desk) -> None:
    anchor = desk.anchor()
    killed_before_it_sends(desk, lambda: desk.submit(anchor))
    assert causes(desk, anchor, after=60) == []  # it may still be at it
    (found,) = causes(desk, anchor, after=HOUR)
    assert (found.tasks, found.examples) == (3, "0-2")
    assert found.what == "were never sent: their submit or retry was ended 60 min ago, on its way"
    assert "`sweep retry nightly`" in found.hint
    desk.retry(anchor)
    assert not any("never sent" in one.what for one in causes(desk, anchor, after=HOUR))


def test_a_killed_retry_is_told_to_a_colleague_who_watches(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    anchor = desk.submit()
    desk.platform.lives = [Life(looks=[failed(Cause.TASK)])]
    for task in range(3):
        desk.launch(anchor, task)
    killed_before_it_sends(desk, lambda: desk.retry(anchor))
    desk.sync(anchor, "theirs")
    run = Run(anchor, desk.ledger("theirs"), desk.cloud)
    made = list(submissions(desk.bucket, anchor.name))
    assert made[1].made_at is not None
    run.warn_of_unsent(made[1].made_at + HOUR)
    assert "3 tasks of run nightly were never sent: `sweep retry nightly` sends them" in caplog.text
    caplog.clear()
    desk.cancel(anchor, "theirs")
    run.warn_of_unsent(made[1].made_at + HOUR)
    assert caplog.text == ""
