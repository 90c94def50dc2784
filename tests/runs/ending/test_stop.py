"""A cancel ends when nothing is left that it can still cause, and says of each task what is proven."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.errors import AccessDenied, SweepError, Throttled, Unreachable, UsageError
from orchestrator.launcher.task_history import Standing
from orchestrator.runs.ending import over
from orchestrator.runs.views.status import run_status
from orchestrator.runs.views.tasks import task_rows
from orchestrator.wire.exits import Exit
from orchestrator.wire.result import TaskState
from tests.launcher.fakes import DONE, RUNNING, STOPPED, Life
from tests.runs.bench import FakeJob, plan

if TYPE_CHECKING:
    from orchestrator.runs.views.status import Status
    from orchestrator.runs.written.anchor import Anchor
    from tests.runs.bench import Desk


class Asleep(BaseException):
    """A launcher's end as a host's loss: nothing catches it, and Batch hears nothing of it by itself."""


def start(desk: Desk, anchor: Anchor, *tasks: int) -> None:
    """Let launchers of these tasks start their trainings, and fall asleep over them."""
    for task in tasks:
        desk.time.on_sleep = asleep
        with pytest.raises(Asleep):
            desk.launch(anchor, task)
    desk.time.on_sleep = lambda: None


def asleep() -> None:
    raise Asleep


def becomes(desk: Desk, task: int, *looks: object) -> None:
    """Let the training of this task look so from now on."""
    desk.platform.trainings["us-east-1", f"nightly-{task}-1"].looks = list(looks)  # type: ignore[arg-type]


def status(desk: Desk, anchor: Anchor, machine: str = "ours") -> Status:
    return run_status(anchor, desk.ledger(machine), desk.time.now)


@pytest.fixture
def running(desk: Desk) -> Anchor:
    """A run of three tasks, of which the first two train."""
    desk.platform.lives = [Life(looks=[RUNNING])]
    anchor = desk.submit()
    start(desk, anchor, 0, 1)
    return anchor


def test_a_training_that_was_done_before_its_launcher_looked_is_not_trained_again(desk: Desk, running: Anchor) -> None:
    becomes(desk, 0, DONE)
    desk.cancel(running)
    assert desk.states(running) == {0: "done", 1: "cancelled", 2: "cancelled"}
    assert status(desk, running).usd == pytest.approx(2 * 1.8)
    assert str(desk.retry(running)) == "1-2"


def test_what_was_cancelled_has_its_cost(desk: Desk, running: Anchor) -> None:
    desk.cancel(running)
    assert status(desk, running).usd == pytest.approx(2 * 1.8)
    assert status(desk, running).state == "cancelled"


def test_a_training_that_completes_while_it_stops_is_done(desk: Desk, running: Anchor) -> None:
    becomes(desk, 0, RUNNING, RUNNING, RUNNING, DONE)
    desk.platform.stop = lambda attempt: becomes(desk, 1, STOPPED) if attempt.task == 1 else None  # type: ignore[method-assign]
    desk.cancel(running)
    assert desk.states(running) == {0: "done", 1: "cancelled", 2: "cancelled"}


class TestTwoArraysOfOneName:
    """A submit whose answer was lost, or two at once, leave two arrays: only one of them is noted."""

    @pytest.fixture
    def twice(self, desk: Desk) -> Anchor:
        desk.platform.lives = [Life(looks=[RUNNING])]
        anchor = desk.submit()
        first = desk.batch.jobs[0]
        desk.batch.jobs.append(FakeJob("job-2", first.name, first.queue, first.manifest, ["RUNNABLE"] * 3, created=2))
        return anchor

    def test_both_are_terminated(self, desk: Desk, twice: Anchor) -> None:
        desk.cancel(twice)
        assert [job.status for job in desk.batch.jobs] == ["FAILED", "FAILED"]

    def test_what_the_second_starts_while_the_first_is_terminated_is_stopped(self, desk: Desk, twice: Anchor) -> None:
        def start_late(job: FakeJob) -> None:
            desk.batch.on_terminate = lambda _: None
            second = next(one for one in desk.batch.jobs if one is not job)
            launcher = desk.launcher(twice, 2, second)
            launcher.history.standing = lambda: Standing.WANTED  # type: ignore[method-assign]  # it looked before
            desk.time.on_sleep = asleep
            with pytest.raises(Asleep):
                launcher.drive()
            desk.time.on_sleep = lambda: None

        desk.batch.on_terminate = start_late
        desk.cancel(twice)
        assert desk.platform.created == ["nightly-2-1 in us-east-1"]
        assert desk.platform.alive == []
        assert desk.states(twice)[2] == "cancelled"


@pytest.mark.parametrize(("poll_s", "late_s"), [(30.0, 40.0), (0.3, 2.0)])
def test_a_start_that_arrives_after_its_launcher_is_gone_is_waited_for_and_stopped(
    desk: Desk, poll_s: float, late_s: float
) -> None:
    anchor = desk.submit()
    late: list[object] = []

    def held_up(request: object) -> None:
        late.append(request)
        raise Unreachable("read time-out")

    begin, desk.platform.start = desk.platform.start, held_up  # type: ignore[method-assign]
    desk.platform.lives = [Life(looks=[RUNNING])]
    start(desk, anchor, 0)
    began = desk.time.now

    def arrive_late() -> None:
        if late and desk.time.now - began > late_s:
            begin(late.pop())  # type: ignore[arg-type]

    desk.time.on_sleep = arrive_late
    desk.cancel(anchor, poll_s=poll_s)
    assert late == []
    assert desk.platform.created == ["nightly-0-1 in us-east-1"]
    assert desk.platform.alive == []
    assert desk.states(anchor)[0] == "cancelled"


def test_a_start_that_never_arrives_is_waited_for_no_longer_than_two_looks(desk: Desk) -> None:
    anchor = desk.submit()
    desk.platform.before = lambda what: (_ for _ in ()).throw(Asleep()) if what == "start" else None
    with pytest.raises(Asleep):
        desk.launch(anchor, 0)
    desk.platform.before = lambda _: None
    began = desk.time.now
    desk.cancel(anchor)
    assert 60 <= desk.time.now - began < 90
    assert desk.states(anchor) == {0: "cancelled", 1: "cancelled", 2: "cancelled"}


@pytest.mark.parametrize("error", [Throttled("Rate exceeded"), Unreachable("no answer")])
@pytest.mark.parametrize("where", ["s3", "batch", "platform"])
def test_a_cancel_survives_calls_that_are_refused_for_a_while(
    desk: Desk, running: Anchor, where: str, error: SweepError
) -> None:
    calls = iter(range(100_000))

    def again_and_again(_: str) -> None:
        if next(calls) % 40 < 4:
            raise error

    {"s3": desk.bucket, "batch": desk.batch, "platform": desk.platform}[where].before = again_and_again  # type: ignore[attr-defined]
    desk.cancel(running)
    assert desk.platform.alive == []
    assert set(desk.states(running).values()) == {"cancelled"}


def test_a_region_that_may_not_be_looked_at_holds_up_no_other_and_is_told(desk: Desk, running: Anchor) -> None:
    poll = desk.platform.poll

    def denied(attempt: object) -> object:
        if getattr(attempt, "task", None) == 0:
            raise AccessDenied("no sagemaker:DescribeTrainingJob")
        return poll(attempt)  # type: ignore[arg-type]

    desk.platform.poll = denied  # type: ignore[assignment,method-assign]
    with pytest.raises(AccessDenied):
        desk.cancel(running)
    assert desk.platform.alive == ["nightly-0-1"]
    assert not desk.cloud().control("nightly").cancel_marker().ended


def test_a_cancel_of_many_tasks_writes_no_results_of_those_that_never_began(desk: Desk) -> None:
    anchor = desk.submit(desk.anchor(plan(tasks=20_000, slots=None)))
    desk.launch(anchor, 5)
    before = desk.bucket.writes
    desk.cancel(anchor)
    assert desk.bucket.writes - before == 2  # the marker, and that all has ended
    seen = status(desk, anchor)
    assert (seen.state, seen.counts[TaskState.DONE], seen.counts[TaskState.CANCELLED]) == ("cancelled", 1, 19_999)
    assert sum(sum(counts.values()) for counts in seen.regions.values()) == 20_000
    desk.sync(anchor, "theirs")
    assert status(desk, anchor, "theirs") == seen


def test_tasks_that_a_cancel_ended_before_they_began_are_told_and_retried(desk: Desk, running: Anchor) -> None:
    desk.cancel(running)
    rows = task_rows(running, desk.ledger().known("nightly"), running.tasks, desk.time.now)
    assert [(row.task, row.state.value, row.reason) for row in rows] == [
        (0, "cancelled", "cancelled"),
        (1, "cancelled", "cancelled"),
        (2, "cancelled", "cancelled"),
    ]
    assert str(desk.retry(running)) == "0-2"
    assert status(desk, running).counts[TaskState.PENDING] == 3
    desk.platform.lives = []
    assert [desk.launch(running, task) for task in range(3)] == [Exit.DONE] * 3
    desk.sync(running)
    assert status(desk, running).state == "done"
    desk.sync(running, "theirs")
    assert status(desk, running, "theirs").state == "done"


def test_a_retry_of_some_leaves_the_others_cancelled(desk: Desk, running: Anchor) -> None:
    desk.cancel(running)
    desk.retry(running, "2")
    desk.sync(running)
    counts = status(desk, running).counts
    assert (counts[TaskState.CANCELLED], counts[TaskState.PENDING]) == (2, 1)


def test_a_cancel_that_was_interrupted_is_ended_by_whoever_looks(
    desk: Desk, running: Anchor, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = iter(range(100))

    def interrupt(what: str) -> None:
        if what == "terminate" and next(calls) == 0:
            raise KeyboardInterrupt

    desk.batch.after = interrupt
    with pytest.raises(KeyboardInterrupt):
        desk.cancel(running)
    with pytest.raises(UsageError, match="run 'nightly' is still being cancelled"):
        desk.retry(running, machine="theirs")
    control = desk.cloud().control("nightly")
    for task, number in control.recorded():
        desk.platform.stop(control.attempt(task, number))
    monkeypatch.setattr(over, "LATE_S", 0.0)
    for _ in range(3):
        desk.sync(running, "theirs")
    assert status(desk, running, "theirs").state == "cancelled"
    assert status(desk, running, "theirs").usd == pytest.approx(2 * 1.8)


def test_a_cancel_leaves_what_a_newer_submission_has_begun(desk: Desk, running: Anchor) -> None:
    """A retry from another machine, made while the cancel waits, is not cancelled."""
    for task in (0, 1):
        becomes(desk, task, STOPPED)
    desk.cancel(running)
    desk.platform.lives = [Life(looks=[STOPPED]), Life(looks=[RUNNING])]
    desk.retry(running, "0", "theirs")
    start(desk, running, 0)
    assert desk.platform.alive == ["nightly-0-2"]
    control = desk.cloud().control("nightly")
    assert control.cancel_marker().through == 1
    assert not control.cancelled(2)


def test_a_cancel_from_another_account_is_refused_before_anything_is_written(desk: Desk, running: Anchor) -> None:
    desk.signed_in = "999999999999"
    with pytest.raises(UsageError, match="its launchers are in the account 123456789012, and these credentials are of"):
        desk.cancel(running)
    assert not desk.bucket.exists("runs/nightly/cancel")
    assert desk.platform.alive == ["nightly-0-1", "nightly-1-1"]


def test_a_run_that_has_ended_by_itself_is_not_cancelled_and_stays_as_it_is(desk: Desk) -> None:
    anchor = desk.submit()
    for task in range(3):
        desk.launch(anchor, task)
    with pytest.raises(UsageError, match=r"^run 'nightly' has ended \(`sweep status nightly` says how\)$"):
        desk.cancel(anchor)
    assert desk.cloud().control("nightly").cancel_marker().through == 0
    assert status(desk, anchor).state == "done"
    assert not status(desk, anchor).cancelled


def test_a_run_whose_second_array_still_waits_has_not_ended(desk: Desk) -> None:
    anchor = desk.submit()
    for task in range(3):
        desk.launch(anchor, task)
    first = desk.batch.jobs[0]
    desk.batch.jobs.append(FakeJob("job-9", first.name, first.queue, first.manifest, ["RUNNABLE"] * 3))
    desk.cancel(anchor)
    assert desk.batch.jobs[-1].status == "FAILED"
    assert status(desk, anchor).state == "done"


def test_a_cancel_that_is_called_again_says_again_that_nothing_runs(desk: Desk, running: Anchor) -> None:
    first = desk.cancel(running)
    assert [(one.region, one.arrays, one.asked, one.ended) for one in first] == [("us-east-1", 1, 2, 2)]
    assert str(first[0]) == "us-east-1: 1 array job terminated; 2 trainings ended, 2 asked to stop from here"
    assert desk.cancel(running) == []


def test_a_submit_of_a_cancelled_run_stages_nothing(desk: Desk, running: Anchor) -> None:
    desk.cancel(running)
    template = running.keys.template("fake", "us-east-1")
    del desk.bucket.objects[template]
    with pytest.raises(UsageError, match="has been cancelled"):
        desk.submit(running)
    assert template not in desk.bucket.objects
