"""Tasks that do not fit at once: an array a lane, whose children wait in Batch until their lane has a slot."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.plan.file import write_plan
from orchestrator.runs.written.submission import everything
from orchestrator.wire.names import resource_name
from orchestrator.wire.result import TaskState
from orchestrator.wire.task import Quota
from tests.fixtures.team import REGIONS
from tests.runs.sending.test_submit import Killed, arrays_of, kill_after, moments

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator import Run
    from orchestrator.wire.task import Lane
    from tests.fixtures.team import Team

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

SLOTS, TASKS = 2, 3
QUEUES = [f"sweep-{region}" for region in REGIONS]


def test_no_lane_is_ever_fuller_than_its_slots_and_the_longest_task_comes_first(
    team: Team, name: str, client: Callable[..., Any]
) -> None:
    team.limits(SLOTS)
    plan = team.plan("[1, 2, 3]", hang=1, runtime='"0.01 * x"')
    requests = team.orchestrator().requests(plan, name=name)
    run = team.orchestrator().submit(plan, name=name)
    *_, last = run.watch(every_s=0.3)
    assert last.counts[TaskState.DONE] == 2 * TASKS
    arrays = run.ledger.arrays(name, [everything(plan)])
    assert [sent.array.lot and sent.array.lot.lane.region for sent in arrays] == ["eu-west-1", "us-east-1"]
    for sent, told in zip(arrays, requests["batch"]["SubmitJob"], strict=True):
        points = [plan.task(task, code="").point["x"] for task in sent.array.tasks]
        assert points == [3, 2, 1]
        times = times_of(run, list(sent.array.tasks))
        assert most_at_once(times) <= SLOTS
        # A child that waits for a slot starts after one of those before it has ended.
        assert all(times[n + SLOTS][0] >= times[n][0] for n in range(TASKS - SLOTS))
        (job,) = client("batch").describe_jobs(jobs=[sent.job])["jobs"]
        assert sent.array.lot
        assert told["jobQueue"] == f"sweep-{sent.array.lot.lane.region}" == job["jobQueue"].rpartition("/")[2]
        need = {"consumableResource": slots_of(sent.array.lot.lane), "quantity": 1}
        assert told["consumableResourcePropertiesOverride"] == {"consumableResourceList": [need]}
        found = client("batch").describe_consumable_resource(consumableResource=need["consumableResource"])
        assert (found["totalQuantity"], found["resourceType"]) == (SLOTS, "REPLENISHABLE")
    assert requests["batch"]["CreateConsumableResource"] == [
        {"consumableResourceName": slots_of(lot.lane), "totalQuantity": SLOTS, "resourceType": "REPLENISHABLE"}
        for sent in arrays
        if (lot := sent.array.lot)
    ]


def slots_of(lane: Lane) -> str:
    """The resource that counts this lane's instances."""
    return resource_name(Quota(lane.platform, lane.region, f"{lane.instance_type}/{lane.purchase.value}"))


def times_of(run: Run, tasks: list[int]) -> list[tuple[float, float]]:
    """From when to when each training ran."""
    outcomes = {one.result.task: one.result.outcomes[-1] for one in run.ledger.known(run.name)}
    return [(outcomes[task].started_at or 0.0, outcomes[task].ended_at or 0.0) for task in tasks]


def most_at_once(times: list[tuple[float, float]]) -> int:
    return max(sum(start <= moment < end for start, end in times) for moment, _ in times)


@pytest.mark.long
def test_one_queue_for_all_lanes_does_too_one_after_the_other(
    team: Team, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    team.limits(1)
    team.settings = replace(team.settings, lane_queue=None)
    run = team.orchestrator().submit(team.plan("[1, 2]"), name=name)
    said = "tasks of 2 lanes wait for slots in the queue sweep, where one lane holds up the others: set `lane_queue`"
    assert caplog.messages == [said]
    *_, last = run.watch(every_s=0.3)
    assert last.state == "done"


STEPS = 14
"""Writes and calls of a plan for two lanes: the run, sources, templates, the submission; then each lane's own four."""


@pytest.mark.usefixtures("nothing_starts")
@pytest.mark.parametrize("step", moments(STEPS, 6, 9, 11))
def test_a_submit_killed_between_its_lanes_is_completed_by_the_next(
    team: Team, name: str, client: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    team.limits(1)
    plan = team.plan("[1, 2]", hang=60)
    with monkeypatch.context() as patch:
        kill_after(patch, step)
        with pytest.raises(Killed):
            team.orchestrator().submit(plan, name=name)
    run = team.orchestrator("next.db").submit(plan, name=name)
    assert [arrays_of(client, name, queue) for queue in QUEUES] == [[f"{name}-s1-a2"], [f"{name}-s1-a1"]]
    run.cancel()


@pytest.mark.usefixtures("nothing_starts")
def test_two_who_submit_the_same_at_once_make_one_run(team: Team, name: str, client: Callable[..., Any]) -> None:
    team.limits(1)
    write_plan(team.plan("[1, 2]"), team.folder / "plan.json")
    command = [Path(sys.executable).with_name("sweep"), "submit", "plan.json", "--yes", "--name", name]
    environment = {**os.environ, "SWEEP_DATABASE": team.settings.database}
    both = [subprocess.Popen(command, cwd=team.folder, env=environment) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert [set(arrays_of(client, name, queue)) for queue in QUEUES] == [{f"{name}-s1-a2"}, {f"{name}-s1-a1"}]
    run = team.orchestrator().run(name)
    run.cancel()
    assert run.status().counts[TaskState.CANCELLED] == 4


@pytest.mark.usefixtures("nothing_starts")
def test_a_quota_that_changed_is_told_to_batch_by_the_next_submit(
    team: Team, name: str, client: Callable[..., Any]
) -> None:
    runs = []
    for slots in (1, 3):
        team.limits(slots, day=f"2026-11-0{slots}")
        plan = team.plan("[1, 2, 3, 4]", data="{campaigns: [alps]}", hang=60)
        runs.append(team.orchestrator().submit(plan, name=f"{name}-{slots}"))
        (sent,) = runs[-1].ledger.arrays(runs[-1].name, [everything(plan)])
        assert sent.array.lot
        resource = slots_of(sent.array.lot.lane)
        assert client("batch").describe_consumable_resource(consumableResource=resource)["totalQuantity"] == slots
        runs[-1].cancel()
    assert [run.status().state for run in runs] == ["cancelled", "cancelled"]


def test_a_retry_waits_for_its_lane_too_and_leaves_the_quota_as_it_is(
    team: Team, name: str, client: Callable[..., Any]
) -> None:
    team.limits(1)
    team.breaks(1)
    plan = team.plan("[1, 2]", data="{campaigns: [alps]}")
    run = team.orchestrator().submit(plan, name=name)
    list(run.watch(every_s=0.3))
    team.breaks()
    slots = {"consumableResource": slots_of(plan.shares[0].places[0].lane)}
    client("batch").update_consumable_resource(**slots, operation="SET", quantity=5)
    assert str(run.retry()) == "0"
    assert client("batch").describe_consumable_resource(**slots)["totalQuantity"] == 5
    body = run.cloud.s3.get(f"runs/{name}/submissions/2.json").json()
    assert [(part["tasks"], part["lane"].split("/")[1]) for part in body["parts"]] == [("0", "us-east-1")]
    *_, last = run.watch(every_s=0.3)
    assert last.state == "done"
