"""Exactly once, whoever submits, from wherever, and however often it is killed on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator import Orchestrator, read
from orchestrator.aws.jobs.batch import ArrayJob, Batch, submit_job_request
from orchestrator.aws.s3 import S3
from orchestrator.errors import NotFound, Refused, SettingsError, SweepError, UsageError
from orchestrator.plan.file import write_plan
from orchestrator.runs.written.anchor import find
from tests.fixtures.database import whole_runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fixtures.team import Team

pytestmark = pytest.mark.usefixtures("cloud_environment")


def arrays_of(client: Callable[..., Any], run: str, queue: str = "sweep") -> list[str]:
    filters = [{"name": "JOB_NAME", "values": [f"{run}-*"]}]
    return [job["jobName"] for job in client("batch").list_jobs(jobQueue=queue, filters=filters)["jobSummaryList"]]


def trainings_of(client: Callable[..., Any], run: str) -> list[str]:
    return sorted(
        training["TrainingJobName"]
        for region in ("us-east-1", "eu-west-1")
        for training in client("sagemaker", region).list_training_jobs(NameContains=run)["TrainingJobSummaries"]
    )


@pytest.mark.parametrize("database_url", ["postgresql", pytest.param("sqlite", marks=pytest.mark.long)], indirect=True)
def test_a_plan_becomes_finished_trainings_in_their_own_regions(team: Team, name: str) -> None:
    run = team.orchestrator().submit(team.plan(), name=name)
    *_, last = run.watch(every_s=0.3)
    assert last.state == "done"
    rows = run.results()
    assert [(row.point["x"], row.metrics["loss"]) for row in rows] == [(2, 1.0), (2, 1.0), (1, 2.0), (1, 2.0)]
    assert {row.dataset: row.region for row in rows} == {"alps@1": "us-east-1", "coast@1": "eu-west-1"}
    assert last.usd == pytest.approx(sum(row.usd for row in run.cost()))
    assert {line.text for line in run.logs()} >= {"read 8 bytes", "loss=1.000", "loss=2.000"}


@whole_runs
def test_one_task_is_an_ordinary_job_and_nobody_has_to_know(team: Team, name: str) -> None:
    plan = team.plan("[2]", data="{campaigns: [alps]}")
    run = team.orchestrator().submit(plan, name=name)
    *_, last = run.watch(every_s=0.3)
    assert (last.tasks, last.state) == (1, "done")


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_plan_submitted_twice_from_two_empty_databases_is_one_run(
    team: Team, name: str, client: Callable[..., Any]
) -> None:
    plan = team.plan("[2]")
    here = team.orchestrator("here.db").submit(plan, name=name)
    there = team.orchestrator("there.db").submit(plan, name=name)
    assert here.name == there.name
    list(there.watch(every_s=0.3))
    here.sync()
    assert here.status() == there.status()
    assert arrays_of(client, name) == [f"{name}-s1-a1"]
    assert trainings_of(client, name) == sorted(f"{name}-{task}-1" for task in range(2))


def moments(steps: int, first: int, *others: int) -> list[Any]:
    """Return all numbers from the first on. But for the first, the last and these others, they are marked as long."""
    shown = {first, *others, steps - 1}
    return [step if step in shown else pytest.param(step, marks=pytest.mark.long) for step in range(first, steps)]


class Killed(BaseException):
    """As SIGKILL would: nothing after it runs."""


STEPS = 11
"""Writes and submissions of a plan for two Regions: more than there are, so the last kill never comes."""


@pytest.mark.usefixtures("nothing_starts")
@pytest.mark.parametrize("step", moments(STEPS, 0, 4, 7))
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_submit_killed_at_any_step_is_completed_by_the_next(
    team: Team, name: str, client: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    plan = team.plan("[2]")
    with monkeypatch.context() as patch:
        kill_after(patch, step)
        with pytest.raises(Killed) if step < STEPS - 1 else nullcontext():
            team.orchestrator("killed.db").submit(plan, name=name)
    run = team.orchestrator("next.db").submit(plan, name=name)
    assert arrays_of(client, name) == [f"{name}-s1-a1"]
    assert run.status().tasks == 2
    run.cancel()


def kill_after(patch: pytest.MonkeyPatch, step: int) -> None:
    """Die when this many writes to S3 and calls that make something in Batch are done, at the next one."""
    count = 0

    def deadly(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            nonlocal count
            count += 1
            if count > step:
                raise Killed
            return original(*arguments, **named)

        return call

    patch.setattr(S3, "put_once", deadly(S3.put_once))
    patch.setattr(Batch, "ensure_resource", deadly(Batch.ensure_resource))
    patch.setattr(Batch, "submit", deadly(Batch.submit))


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_sigkilled_process_that_submits_is_completed_by_the_next(
    team: Team, name: str, client: Callable[..., Any]
) -> None:
    plan = team.plan("[2]")
    write_plan(plan, team.folder / "plan.json")
    command = [str(Path(sys.executable).with_name("sweep")), "submit", "plan.json", "--yes", "--name", name]
    process = subprocess.Popen(command, cwd=team.folder, env={**os.environ, "SWEEP_DATABASE": team.settings.database})
    control = team.orchestrator().cloud.s3
    while find(control, name) is None and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    run = team.orchestrator().submit(plan, name=name)
    assert arrays_of(client, name) == [f"{name}-s1-a1"]
    run.cancel()


@pytest.mark.usefixtures("nothing_starts")
@whole_runs
def test_again_makes_a_second_run(team: Team, name: str) -> None:
    plan = team.plan("[2]")
    first = team.orchestrator().submit(plan, name=name)
    second = team.orchestrator().submit(plan, name=name, again=True)
    assert (first.name, second.name) == (name, f"{name}-2")
    assert {row.name for row in team.orchestrator().runs(sync=False)} == {name, f"{name}-2"}
    first.cancel()
    second.cancel()


@pytest.mark.usefixtures("nothing_starts")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
class TestRefused:
    def test_another_run_of_a_plan_whose_sources_are_not_here(self, team: Team, name: str) -> None:
        plan = team.plan("[2]")
        team.orchestrator().submit(plan, name=name).cancel()
        (team.folder / "training").rename(team.folder / "elsewhere")
        with pytest.raises(UsageError, match="there is no such source folder"):
            team.orchestrator().submit(plan, name=name, again=True)

    def test_a_name_stands_for_one_plan(self, team: Team, name: str) -> None:
        team.orchestrator().submit(team.plan("[2]"), name=name).cancel()
        with pytest.raises(UsageError, match=f"run '{name}' exists with another plan"):
            team.orchestrator().submit(team.plan("[3]"), name=name)

    def test_a_run_never_mixes_two_versions_of_the_sources(self, team: Team, name: str) -> None:
        plan = team.plan("[2]")
        team.orchestrator().submit(plan, name=name).cancel()
        (team.folder / "training" / "more.py").write_text("")
        for act in (team.orchestrator().requests, team.orchestrator().submit):
            with pytest.raises(UsageError, match=r"begun with other sources: more\.py is new"):
                act(plan, name=name)

    def test_a_name_that_fits_no_training_is_refused_before_anything_is_written(self, team: Team) -> None:
        with pytest.raises(UsageError, match="cannot name a run"):
            team.orchestrator().submit(team.plan("[2]"), name="Nightly Run")

    def test_a_source_folder_that_is_gone_is_missed_at_once(self, team: Team, name: str) -> None:
        plan = team.plan("[2]")
        (team.folder / "training").rename(team.folder / "elsewhere")
        with pytest.raises(UsageError, match="there is no such source folder"):
            team.orchestrator().submit(plan, name=name)
        with pytest.raises(UsageError, match=f"no run '{name}'"):
            team.orchestrator("other.db").run(name)

    def test_a_regions_bucket_that_is_missing_is_missed_before_anything_is_written(self, team: Team, name: str) -> None:
        plan = team.plan("[2]")
        team.settings = replace(team.settings, region_bucket="nobodys-{region}")
        with pytest.raises(NotFound, match="the bucket nobodys-eu-west-1"):
            team.orchestrator().submit(plan, name=name)
        with pytest.raises(UsageError, match=f"no run '{name}'"):
            team.orchestrator("other.db").run(name)

    def test_a_queue_that_is_missing_is_missed_before_anything_is_written(self, team: Team, name: str) -> None:
        plan = team.plan("[2]")
        team.settings = replace(team.settings, queue="nobodys")
        with pytest.raises(SweepError, match="nobodys"):
            team.orchestrator().submit(plan, name=name)
        with pytest.raises(UsageError, match=f"no run '{name}'"):
            team.orchestrator("other.db").run(name)

    def test_a_platform_that_is_not_installed_is_missed_before_anything_is_written(self, team: Team, name: str) -> None:
        plan = team.plan("[2]")
        lane = replace(plan.shares[0].places[0].lane, platform="sagemkaer")
        place = replace(plan.shares[0].places[0], lane=lane)
        moved = replace(plan, shares=(replace(plan.shares[0], places=(place,)), *plan.shares[1:]))
        with pytest.raises(UsageError, match=r"no platform 'sagemkaer' is installed \(did you mean 'sagemaker'\?\)"):
            team.orchestrator().submit(moved, name=name)
        with pytest.raises(UsageError, match=f"no run '{name}'"):
            team.orchestrator("other.db").run(name)

    def test_a_lane_that_its_platform_does_not_have_is_refused(self, team: Team, name: str) -> None:
        plan = team.plan("[2]")
        lane = replace(plan.shares[0].places[0].lane, instance_type="c5.xlarge")
        place = replace(plan.shares[0].places[0], lane=lane)
        moved = replace(plan, shares=(replace(plan.shares[0], places=(place,)), *plan.shares[1:]))
        with pytest.raises(UsageError, match=r"^sagemaker/us-east-1/c5\.xlarge/spot: SageMaker has no instance type"):
            team.orchestrator().submit(moved, name=name)

    def test_trainings_that_need_a_role_miss_it_before_anything_is_written(self, team: Team, name: str) -> None:
        plan = team.plan("[2]")
        team.settings = replace(team.settings, role=None)
        with pytest.raises(SettingsError, match="role is not set"):
            team.orchestrator().submit(plan, name=name)

    def test_settings_that_are_missing_are_named(self, team: Team) -> None:
        orchestrator = team.orchestrator()
        orchestrator.settings = replace(orchestrator.settings, bucket=None)
        with pytest.raises(SettingsError, match="bucket is not set"):
            orchestrator.submit(team.plan("[2]"))


@pytest.mark.usefixtures("nothing_starts")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_staged_run_is_completed_from_a_machine_without_its_sources(team: Team, name: str) -> None:
    plan = team.plan("[2]")
    team.orchestrator().submit(plan, name=name)
    (team.folder / "training").rename(team.folder / "elsewhere")
    run = team.orchestrator("other.db").submit(plan, name=name)
    assert run.name == name
    run.cancel()


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_dry_run_is_what_is_then_sent(
    team: Team, name: str, client: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = team.plan("[2]")
    requests = team.orchestrator().requests(plan, name=name)
    assert json.loads(json.dumps(requests)) == requests
    puts, submits = sent_by(monkeypatch, lambda: team.orchestrator().submit(plan, name=name))
    assert requests["batch"]["SubmitJob"] == submits
    told = {(put["Bucket"], put["Key"]): put["Body"] for put in requests["s3"]["PutObject"]}
    assert told.keys() == puts.keys()
    ours = {place for place in told if not place[1].endswith(("run.json", ".tar.gz"))}  # one has a clock, one is binary
    assert {place: told[place] for place in ours} == {place: puts[place].decode() for place in ours}
    list(team.orchestrator().run(name).watch(every_s=0.3))
    for one in requests["sagemaker"]:
        assert one["started_by"] == "AWS's toolkit in the image"
        body = one["CreateTrainingJob"]
        sent = client("sagemaker", one["region"]).describe_training_job(TrainingJobName=body["TrainingJobName"])
        assert {key: sent[key] for key in ("HyperParameters", "StoppingCondition")} == {
            key: body[key] for key in ("HyperParameters", "StoppingCondition")
        }


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_dry_run_refuses_what_submit_refuses(team: Team, name: str, client: Callable[..., Any]) -> None:
    plan = team.plan("[2]", data="{campaigns: [alps]}")
    dearer = "us-east-1,ml.c5.xlarge,on_demand,0.21,2026-11-02"
    team.learns("prices", "region,instance_type,purchase,usd_per_hour,observed_at", dearer)
    for act in (team.orchestrator().requests, team.orchestrator().submit):
        with pytest.raises(Refused, match=f"plan {plan.id} is stale: .* may be billed \\$0.21 an hour, not \\$0.20"):
            act(plan, name=name)
    unknown = replace(team.settings, queue="no-such-queue")
    for act in (Orchestrator(unknown).requests, Orchestrator(unknown).submit):
        with pytest.raises(SweepError, match="no-such-queue"):
            act(plan, name=name)
    assert find(team.orchestrator().control, name) is None
    assert arrays_of(client, name) == []


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_sweep_of_a_command_needs_no_code_and_the_dry_run_says_who_starts_it(team: Team, name: str) -> None:
    plan = team.plan("[2, 3]", data="{campaigns: [alps]}")
    command = ["sh", "-c", "ls {data}; echo loss={x}", "sh", "{arguments}"]
    train = plan.sweep.train.model_copy(update={"entry_point": None, "source": None, "command": command})
    plan = team.orchestrator().plan(plan.sweep.model_copy(update={"train": train}))
    requests = team.orchestrator().requests(plan, name=name)
    assert requests["sources"]["files"][0] == "orchestrator/__init__.py"
    shown = "sh -c 'ls /opt/ml/input/data/training; echo loss=2' sh --hang 0"
    assert requests["sagemaker"][0]["started_by"] == f"the starter, for train.command: {shown}"
    run = team.orchestrator().submit(plan, name=name)
    list(run.watch(every_s=0.3))
    assert [row.metrics["loss"] for row in run.results()] == [2.0, 3.0]


def sent_by(
    monkeypatch: pytest.MonkeyPatch, act: Callable[[], Any]
) -> tuple[dict[tuple[str, str], bytes], list[dict[str, Any]]]:
    """Every object put and every job submitted meanwhile, as they are sent."""
    puts: dict[tuple[str, str], bytes] = {}
    submits: list[dict[str, Any]] = []
    put_once, submit = S3.put_once, Batch.submit

    def put(s3: S3, key: str, body: bytes) -> bool:
        puts[s3.bucket, key] = body
        return put_once(s3, key, body)

    def note(batch: Batch, array: ArrayJob) -> str:
        submits.append(submit_job_request(array))
        return submit(batch, array)

    with monkeypatch.context() as patch:
        patch.setattr(S3, "put_once", put)
        patch.setattr(Batch, "submit", note)
        act()
    return puts, submits


def test_the_same_inputs_give_the_same_plan_byte_for_byte(team: Team) -> None:
    plans = []
    for file in ("a.json", "b.json"):
        write_plan(team.plan(), team.folder / file)
        plans.append((team.folder / file).read_bytes())
    assert plans[0] == plans[1]
    assert read(team.folder / "sweep.yaml").name == "small"


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_dry_run_of_a_large_sweep_tells_the_first_of_each_kind_and_how_many_there_are(team: Team, name: str) -> None:
    plan = team.plan("{range: [1, 12000], step: 1}")
    requests = team.orchestrator().requests(plan, name=name)
    assert len(requests["batch"]["SubmitJob"]) == 3
    assert Counter(one["region"] for one in requests["sagemaker"]) == {"us-east-1": 10, "eu-west-1": 10}
    manifests = [put["Body"] for put in requests["s3"]["PutObject"] if put["Key"].endswith(".manifest")]
    assert [len(body.splitlines()) for body in manifests] == [10, 10, 10]
    assert requests["left_out"] == [
        "CreateTrainingJob: the first 10 of each Region are here, 20 of 24,000",
        "PutObject: of each manifest and its index the first 10 lines are here",
    ]
    assert team.orchestrator().requests(team.plan("[2]"), name=name)["left_out"] == []
