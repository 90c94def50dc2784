"""Replan: tasks that have not been started go elsewhere, each exactly once, wherever anybody is killed."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

import pytest

from orchestrator.errors import Refused, UsageError
from orchestrator.launcher.child import Child, read_task
from orchestrator.plan.facts import QuotaFact
from orchestrator.runs.known.lease import held
from orchestrator.runs.written.anchor import submissions
from orchestrator.runs.written.plan_now import planned_now
from orchestrator.runs.written.submission import Submission
from orchestrator.wire.names import S3Uri
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.result import Cause, TaskState
from orchestrator.wire.task import Quota
from tests.launcher.fakes import RUNNING, Life, failed
from tests.runs.bench import HOME, LANES, PACKAGE, plan
from tests.runs.sending.test_submit import Killed

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.runs.written.anchor import Anchor
    from tests.fixtures.team import Team
    from tests.runs.bench import Desk

OLD, NEW = (lane.region for lane in LANES)


def submitted(desk: Desk, tasks: int = 3) -> Anchor:
    """Return a run whose sources lie where it was staged, as `submit` leaves them."""
    return desk.submit(desk.anchor(plan(tasks)))


def launch_all(desk: Desk, anchor: Anchor) -> None:
    """Let every child of every array live, the oldest first, unless it has been ended."""
    for job in desk.batch.jobs:
        for index, task in enumerate(desk._tasks(anchor, job)):
            if job.statuses[index] == "RUNNABLE":
                desk.launch(anchor, task, job)


def trained(desk: Desk) -> list[str]:
    return sorted(desk.platform.created)


def test_tasks_that_have_not_been_started_are_trained_where_the_new_plan_says_and_nowhere_else(desk: Desk) -> None:
    anchor = submitted(desk)
    desk.launch(anchor, 1)
    moved = desk.replan(anchor, desk.proposal(anchor))
    assert (moved.submission, str(moved.tasks), moved.started) == (2, "0,2", Ranges())
    launch_all(desk, anchor)
    assert trained(desk) == [f"nightly-0-1 in {NEW}", f"nightly-1-1 in {OLD}", f"nightly-2-1 in {NEW}"]
    desk.sync(anchor)
    assert desk.states(anchor) == {0: "done", 1: "done", 2: "done"}


def test_jobs_that_wait_for_moved_tasks_are_ended_and_others_go_on(desk: Desk) -> None:
    anchor = submitted(desk)
    desk.launch(anchor, 1)
    desk.replan(anchor, desk.proposal(anchor, "0"))
    first = desk.batch.jobs[0]
    assert first.statuses == ["FAILED", "SUCCEEDED", "RUNNABLE"]
    assert first.reasons == {0: "its task was planned anew"}
    desk.sync(anchor)
    assert desk.states(anchor) == {1: "done"}


def test_a_launcher_of_the_old_submission_that_comes_all_the_same_leaves_and_costs_nothing(desk: Desk) -> None:
    anchor = submitted(desk)
    late = desk.launcher(anchor, 0)
    desk.batch.jobs[0].statuses[0] = "RUNNABLE"
    desk.replan(anchor, desk.proposal(anchor))
    assert late.drive() == 76
    assert trained(desk) == []


def test_a_task_that_is_started_between_the_plan_and_the_move_stays_and_is_told(desk: Desk) -> None:
    anchor = submitted(desk)
    proposal = desk.proposal(anchor)
    desk.platform.lives = [Life(looks=[RUNNING])]
    desk.time.on_sleep = lambda: setattr(desk.time, "term", True)
    desk.launch(anchor, 2)
    moved = desk.replan(anchor, proposal)
    assert (str(moved.tasks), str(moved.started)) == ("0-1", "2")
    assert trained(desk) == [f"nightly-2-1 in {OLD}"]


def test_nothing_is_sent_if_all_were_started_meanwhile(desk: Desk) -> None:
    anchor = submitted(desk)
    proposal = desk.proposal(anchor)
    for task in range(3):
        desk.launch(anchor, task)
    moved = desk.replan(anchor, proposal)
    assert (moved.submission, moved.tasks, str(moved.started)) == (0, Ranges(), "0-2")
    assert len(desk.batch.jobs) == 1


def test_a_task_that_was_refused_only_may_move_and_one_that_has_run_may_not(desk: Desk) -> None:
    anchor = submitted(desk, tasks=2)
    desk.platform.hours = 0
    desk.platform.lives = [Life(looks=[failed(Cause.CAPACITY)])]
    sleeps = count(1)
    desk.time.on_sleep = lambda: setattr(desk.time, "term", next(sleeps) == 2)
    assert desk.launcher(anchor, 0).drive() == 75  # and Batch will start another
    desk.time.on_sleep, desk.time.term = lambda: None, False
    found = desk.proposal(anchor).unstarted
    assert (str(found.tasks), found.refusals, found.refused) == ("0-1", {0: 1}, {LANES[0]})
    moved = desk.replan(anchor, desk.proposal(anchor))
    [_, second] = submissions(desk.bucket, anchor.name)
    assert (str(moved.tasks), second.attempts_before(0), second.attempts_before(1)) == ("0-1", 0, 0)
    desk.platform.lives = []
    launch_all(desk, anchor)
    assert trained(desk)[1:] == [f"nightly-0-2 in {NEW}", f"nightly-1-1 in {NEW}"]


@pytest.mark.parametrize("where", ["control bucket", "batch"])
def test_killed_at_any_operation_it_is_completed_by_the_same_command_on_another_machine(
    desk_of: Callable[[], Desk], where: str
) -> None:
    for at in count(1):
        desk = desk_of()
        anchor = submitted(desk)
        desk.launch(anchor, 1)
        proposal = desk.proposal(anchor)
        operations = count(1)

        def kill(_: str, at: int = at, operations: count[int] = operations) -> None:
            if next(operations) == at:
                raise Killed

        hit = desk.bucket if where == "control bucket" else desk.batch
        hit.before = kill
        try:
            desk.replan(anchor, proposal)
            whole = True
        except Killed:
            whole = False
        hit.before = lambda _: None
        again = desk.proposal(anchor, machine="theirs")
        if again.unstarted.plan.share(0).places[0].lane == LANES[0]:
            assert str(desk.replan(anchor, again, machine="theirs").tasks) == "0,2"
        launch_all(desk, anchor)
        assert trained(desk) == [f"nightly-0-1 in {NEW}", f"nightly-1-1 in {OLD}", f"nightly-2-1 in {NEW}"], at
        if whole:
            break


def test_of_two_at_once_one_moves_the_tasks_and_the_other_says_so(desk: Desk) -> None:
    anchor = submitted(desk)
    ours, theirs = desk.proposal(anchor), desk.proposal(anchor, machine="theirs")
    assert str(desk.replan(anchor, theirs, machine="theirs").tasks) == "0-2"
    with pytest.raises(UsageError, match="has got another submission meanwhile: nothing was moved"):
        desk.replan(anchor, ours)
    assert held(anchor.name, desk.ledger()) == {Quota("fake", OLD, "own"): 3}  # as it was, until a sync
    desk.sync(anchor)
    assert held(anchor.name, desk.ledger()) == {Quota("fake", NEW, "other"): 3}
    launch_all(desk, anchor)
    assert len(trained(desk)) == 3


def test_a_cancelled_or_paused_run_is_refused_in_one_line(desk: Desk) -> None:
    anchor = submitted(desk)
    desk.cloud().control(anchor.name).pause(1, "the first 2 tasks failed alike")
    with pytest.raises(UsageError, match="begins nothing more: the first 2 tasks failed alike"):
        desk.proposal(anchor)
    desk.cancel(anchor)
    with pytest.raises(UsageError, match=r"has been cancelled \(`sweep retry nightly`"):
        desk.proposal(anchor)


def test_it_moves_what_a_retry_has_sent_and_a_later_retry_goes_where_it_was_moved(desk: Desk) -> None:
    anchor = submitted(desk)
    desk.cancel(anchor)
    desk.retry(anchor)
    assert str(desk.replan(anchor, desk.proposal(anchor)).tasks) == "0-2"
    desk.cancel(anchor)
    desk.retry(anchor, machine="theirs")
    launch_all(desk, anchor)
    assert trained(desk) == [f"nightly-{task}-1 in {NEW}" for task in range(3)]


def test_the_manifest_of_a_submission_is_the_same_whoever_writes_it_and_however_late(desk: Desk) -> None:
    anchor = submitted(desk)
    desk.replan(anchor, desk.proposal(anchor))
    before = {key: stored.body for key, stored in desk.bucket.objects.items() if "/submissions/" in key}
    for key in [key for key in before if key.endswith((".manifest", ".index"))]:
        del desk.bucket.objects[key]
    desk.batch.jobs.clear()
    from orchestrator.runs.sending.submit import submit

    submit(anchor, PACKAGE, desk.ledger("theirs"), desk.cloud())
    assert {key: stored.body for key, stored in desk.bucket.objects.items() if "/submissions/" in key} == before
    child = Child(S3Uri("control", anchor.keys.manifest(2, 1)), anchor.name, 2, 0, 3, HOME)
    assert [place.lane for place in read_task(child, desk.bucket).places] == [LANES[1]]


def test_slots_that_another_run_has_taken_meanwhile_refuse_it_before_anything_is_written(desk: Desk) -> None:
    anchor = submitted(desk)
    proposal = desk.proposal(anchor)
    quotas = (QuotaFact(Quota("fake", NEW, "other"), 2),)
    proposal = replace(proposal, planned=replace(proposal.planned, quotas=quotas))
    with pytest.raises(Refused, match="other in eu-west-1 has 2 of 2 units free, and the new plan takes 3"):
        desk.replan(anchor, proposal)
    assert len(list(submissions(desk.bucket, anchor.name))) == 1


def test_a_submission_reads_back_as_it_was_written_and_leaves_the_rest_of_the_plan(desk: Desk) -> None:
    anchor = submitted(desk)
    desk.replan(anchor, desk.proposal(anchor, "1"))
    made = list(submissions(desk.bucket, anchor.name))
    assert Submission.from_json(made[1].to_json()) == made[1]
    now = planned_now(anchor, made)
    assert [(share.first, share.count, share.places[0].lane.region) for share in now.plan.shares] == [
        (0, 1, OLD), (1, 1, NEW), (2, 1, OLD),
    ]  # fmt: skip
    assert planned_now(now, made).plan == now.plan


def test_what_was_done_before_the_fence_was_moved_is_done_and_never_trained_again(desk: Desk) -> None:
    anchor = submitted(desk)
    proposal = desk.proposal(anchor)

    def kill(what: str) -> None:
        if what == "put" and anchor.keys.submission(2) in desk.bucket.objects:
            raise Killed

    desk.bucket.before = kill  # the submission is there, and its fence is not
    with pytest.raises(Killed):
        desk.replan(anchor, proposal)
    desk.bucket.before = lambda _: None
    desk.launch(anchor, 1, desk.batch.jobs[0])
    for machine in ("ours", "theirs"):
        desk.sync(anchor, machine)
        assert desk.states(anchor, machine) == {1: "done"}
    desk.cancel(anchor)
    assert desk.states(anchor) == {0: "cancelled", 1: "done", 2: "cancelled"}
    assert str(desk.retry(anchor)) == "0,2"
    launch_all(desk, anchor)
    assert trained(desk) == [f"nightly-0-1 in {NEW}", f"nightly-1-1 in {OLD}", f"nightly-2-1 in {NEW}"]


@pytest.mark.long
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_on_the_local_cloud_what_waits_goes_where_it_became_cheaper_and_all_is_done_once(team: Team, name: str) -> None:
    team.limits(1)  # of each lane one after the other, so most of them wait
    team.learns("replicas", "dataset,region,s3_uri", f"alps@1,{NEW},s3://sweep-local-{NEW}/data/coast/")
    dear = [f"{NEW},ml.c5.xlarge,{buy},0.3,2026-11-02" for buy in ("spot", "on_demand")]
    team.learns("prices", "region,instance_type,purchase,usd_per_hour,observed_at", *dear)
    plan = team.plan("{range: [1, 6], step: 1}", data="{campaigns: [alps]}", hang=3)
    run = team.orchestrator().submit(plan, name=name)
    while not run.status().counts[TaskState.RUNNING]:
        run.sync()
    cheap = [
        f"{region},ml.c5.xlarge,{buy},{usd},2026-11-03"
        for region, usd in ((NEW, 0.01), (OLD, 0.4))
        for buy in ("spot", "on_demand")
    ]
    team.learns("prices", "region,instance_type,purchase,usd_per_hour,observed_at", *cheap)
    proposal = team.orchestrator().propose(run)
    assert proposal is not None
    assert proposal.why == "it is cheaper"
    moved = run.replan(proposal)
    assert moved.tasks
    *_, last = run.watch(every_s=0.3)
    assert last.state == "done"
    rows = {row.task: (row.region, row.attempt) for row in run.results()}
    assert {rows[task] for task in moved.tasks} == {(NEW, 1)}
    assert all(attempt == 1 for _, attempt in rows.values())
