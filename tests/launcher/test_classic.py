"""A two-column file that nobody has planned: an array job of the classic kind trains each of its lines, once."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator import resources
from orchestrator.aws.control import Control
from orchestrator.aws.jobs.definitions import render
from orchestrator.aws.s3 import S3
from orchestrator.aws.session import Clients
from orchestrator.errors import AccessDenied, Throttled, UsageError
from orchestrator.launcher.child import this_child
from orchestrator.launcher.classic import ClassicHistory, read_classic_task
from orchestrator.launcher.task_history import Standing
from orchestrator.platforms.sagemaker.from_variables import make_body
from orchestrator.platforms.source import pack
from orchestrator.wire.exits import Exit
from orchestrator.wire.names import run_of_job, valid_run_name
from orchestrator.wire.result import TaskState
from orchestrator.wire.task import Purchase
from tests.launcher.fakes import Bucket

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

JOB = "0f0e0d0c-1111-4222-8333-a0b0c0d0e0f0"
SAID = {
    "S3_ARRAY_FILE": "s3://lab/runs/jobs.csv",
    "AWS_BATCH_JOB_ID": f"{JOB}:1",
    "AWS_BATCH_JOB_ARRAY_INDEX": "1",
    "AWS_BATCH_JOB_ARRAY_SIZE": "2",
    "AWS_REGION": "us-east-1",
    "SWEEP_ROLE": "arn:aws:iam::123456789012:role/training",
    "SWEEP_IMAGE": "{account}.dkr.ecr.{region}.amazonaws.com/steering:1",
    "SWEEP_SOURCE": "s3://lab-{region}/sourcedir.tar.gz",
    "SWEEP_ENTRY_POINT": "train.py",
    "SWEEP_INSTANCE_TYPE": "ml.g5.xlarge",
    "SWEEP_OUTPUT": "s3://lab-{region}/out",
}
FILE = "us-east-1,s3://lab/a/\n\neu-west-1,s3://lab/b/\r\n"


def bucket(text: str = FILE) -> S3:
    made = Bucket()
    made.put_once("runs/jobs.csv", text.encode())
    return made  # type: ignore[return-value]


def task(text: str = FILE, **changes: str) -> Any:
    environ = {**SAID, **changes}
    return read_classic_task(this_child(environ), bucket(text), environ)


def test_all_children_of_a_job_are_one_run_however_often_they_start() -> None:
    names = {run_of_job({"AWS_BATCH_JOB_ID": f"{JOB}{end}"}) for end in ("", ":0", ":9999")}
    assert names == {"batch-0f0e0d0c111142228333a0b0c0d0e0f0"}
    assert all(valid_run_name(name) for name in names)
    assert valid_run_name(run_of_job({"AWS_BATCH_JOB_ID": "no/uuid:3"}))
    assert run_of_job({}) == ""


def test_a_line_is_a_task_by_what_the_environment_says() -> None:
    made = task(SWEEP_PURCHASE="spot", SWEEP_MAX_RUNTIME="600", SWEEP_HYPERPARAMETERS='{"lr": 0.1}', SWEEP_RETRIES="2")
    (place,) = made.places
    assert (made.number, made.point, place.s3_uri, place.lane.region) == (1, {"lr": 0.1}, "s3://lab/b/", "eu-west-1")
    assert place.lane.purchase is Purchase.SPOT
    assert (made.limits.max_runtime_s, made.limits.retries, place.instances) == (600, 2, 1)


@pytest.mark.parametrize("head", ["region,s3_uri\n", "region, s3_uri\r\n", "\n\n"])
def test_a_header_and_empty_lines_are_no_tasks(head: str) -> None:
    assert task(head + FILE).places[0].s3_uri == "s3://lab/b/"


@pytest.mark.parametrize(
    ("text", "changes", "said"),
    [
        ("us-east-1,s3://lab/a/\n", {}, "s3://lab/runs/jobs.csv: 1 lines, and this is child 1"),
        ("x\nus-east-1\n", {}, "s3://lab/runs/jobs.csv:2: expected region,s3_uri"),
        ("x\nus-east-1,s3://lab/a/,0.1\n", {}, "`sweep submit --manifest` runs files with further columns"),
        (FILE, {"SWEEP_INSTANCE_TYPE": ""}, "SWEEP_INSTANCE_TYPE: not set"),
        (FILE, {"SWEEP_PURCHASE": "cheap"}, "SWEEP_PURCHASE: not a way to buy: 'cheap'"),
        (FILE, {"SWEEP_INSTANCES": "0"}, "SWEEP_INSTANCES: not a whole number from 1 to 10000: '0'"),
        (FILE, {"SWEEP_MAX_RUNTIME": "1h"}, "SWEEP_MAX_RUNTIME: not a whole number"),
        (FILE, {"SWEEP_HYPERPARAMETERS": "{'lr': 1}"}, "SWEEP_HYPERPARAMETERS: no JSON"),
        (FILE, {"SWEEP_HYPERPARAMETERS": "[1]"}, "SWEEP_HYPERPARAMETERS: no JSON object"),
        (FILE, {"SWEEP_HYPERPARAMETERS": '{"a": [1]}'}, "a is no text, number, true or false"),
        (FILE, {"SWEEP_HYPERPARAMETERS": '{"a": NaN}'}, "a is no text, number, true or false"),
        (FILE, {"SWEEP_RATE": "much"}, "SWEEP_RATE: no dollars: 'much'"),
        (FILE, {"AWS_BATCH_JOB_ID": ""}, "there is no Batch job to keep track of it by"),
    ],
)
def test_what_cannot_be_is_one_line_that_names_the_line_or_the_variable(
    text: str, changes: dict[str, str], said: str
) -> None:
    with pytest.raises(UsageError) as caught:
        task(text, **changes)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_environment_makes_the_request_of_all_lines() -> None:
    environ = {**SAID, "SWEEP_PARALLEL": "torchrun", "SWEEP_PROCESSES": "4", "SWEEP_ENVIRONMENT": '{"A": 1}'}
    body = make_body(environ, task().places[0].lane)
    assert body["request"]["AlgorithmSpecification"]["TrainingImage"] == (
        "123456789012.dkr.ecr.eu-west-1.amazonaws.com/steering:1"
    )
    assert body["hyperparameters"]["sagemaker_submit_directory"] == '"s3://lab-eu-west-1/sourcedir.tar.gz"'
    assert body["hyperparameters"]["sagemaker_torch_distributed_enabled"] == "true"
    assert body["hyperparameters"]["sagemaker_mpi_num_of_processes_per_host"] == "4"
    assert body["request"]["Environment"] == {"A": "1"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"SWEEP_ROLE": "me"}, "SWEEP_ROLE: not a role's ARN: 'me'"),
        ({"SWEEP_IMAGE": ""}, "SWEEP_IMAGE: not set"),
        ({"SWEEP_SOURCE": "code/"}, "SWEEP_SOURCE: no packed sources: 'code/'"),
        ({"SWEEP_ENTRY_POINT": ""}, "SWEEP_ENTRY_POINT: not set"),
        ({"SWEEP_PARALLEL": "torchrum"}, "did you mean 'torchrun'?"),
        ({"SWEEP_VOLUME_GB": "-1"}, "SWEEP_VOLUME_GB: not a whole number from 1 to 16384"),
    ],
)
def test_a_request_that_cannot_be_names_its_variable(changes: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        make_body({**SAID, **changes}, task().places[0].lane)
    assert said in str(caught.value)


def test_an_instance_type_of_ec2_is_refused() -> None:
    with pytest.raises(UsageError, match=r"SWEEP_INSTANCE_TYPE: not SageMaker's: 'g5.xlarge'"):
        make_body(SAID, task(SWEEP_INSTANCE_TYPE="g5.xlarge").places[0].lane)


# On the local cloud

TRAIN = """
import os, sys, time
print("with", sys.argv[1:], open(os.environ["SM_CHANNEL_TRAINING"] + "/x").read(), flush=True)
time.sleep(float(sys.argv[sys.argv.index("--hang") + 1]))
"""


@pytest.fixture
def submit(client: Callable[..., Any], cloud_environment: dict[str, str], name: str, tmp_path: Path) -> Any:
    """Return a function that submits an array of the classic job definition over two lines, and returns its id."""
    regions = ("us-west-2", "eu-west-1")
    (tmp_path / "train.py").write_text(TRAIN)
    for region in regions:
        s3, where = client("s3", region), f"sweep-local-{region}"
        s3.put_object(Bucket=where, Key=f"{name}/data/x", Body=region.encode())
        s3.put_object(Bucket=where, Key=f"{name}/sourcedir.tar.gz", Body=pack(tmp_path).body)
    lines = "".join(f"{region},s3://sweep-local-{region}/{name}/data/\n" for region in regions)
    client("s3").put_object(Bucket="sweep-local", Key=f"{name}/jobs.csv", Body=lines.encode())
    values = {
        "image": "launcher",
        "job_role": cloud_environment["SWEEP_ROLE"],
        "manifest": f"s3://sweep-local/{name}/jobs.csv",
        "role": cloud_environment["SWEEP_ROLE"],
        "training_image": "any",
        "source": f"s3://sweep-local-{{region}}/{name}/sourcedir.tar.gz",
        "output": f"s3://sweep-local-{{region}}/{name}/out",
    }
    rendered = render(resources.text("job_definitions/classic.json"), values, where="job_definitions/classic.json")
    rendered["jobDefinitionName"] = name
    batch = client("batch")
    batch.register_job_definition(**rendered)
    compute = {"type": "EC2", "maxvCpus": 4, "minvCpus": 0, "instanceTypes": ["optimal"], "subnets": ["subnet-1"]}
    compute |= {"instanceRole": "arn:aws:iam::123456789012:instance-profile/ecs", "securityGroupIds": ["sg-1"]}
    batch.create_compute_environment(computeEnvironmentName=name, type="MANAGED", computeResources=compute)
    order = [{"order": 1, "computeEnvironment": name}]
    batch.create_job_queue(jobQueueName=name, priority=1, computeEnvironmentOrder=order)

    def send(hang: float) -> str:
        said = {"SWEEP_HYPERPARAMETERS": json.dumps({"hang": hang}), "SWEEP_POLL": "1"}
        environment = [{"name": key, "value": value} for key, value in said.items()]
        job = batch.submit_job(
            jobName=name,
            jobQueue=name,
            jobDefinition=name,
            arrayProperties={"size": 2},
            containerOverrides={"environment": environment},
        )
        return str(job["jobId"])

    return send


def until(look: Callable[[], Any], within_s: float = 120.0) -> Any:
    deadline = time.monotonic() + within_s
    while not (seen := look()):
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.1)
    return seen


def test_an_array_of_the_classic_kind_trains_each_line_in_its_region(
    submit: Callable[[float], str], client: Callable[..., Any], cloud_environment: dict[str, str], name: str
) -> None:
    job, batch = submit(0.0), client("batch")
    status = until(lambda: batch.describe_jobs(jobs=[job])["jobs"][0]["status"] in ("SUCCEEDED", "FAILED"))
    assert status
    assert batch.describe_jobs(jobs=[job])["jobs"][0]["status"] == "SUCCEEDED"
    run = run_of_job({"AWS_BATCH_JOB_ID": job})
    control = Control(S3(Clients(), cloud_environment["SWEEP_REGION"], "sweep-local"), run)
    for number, region in enumerate(("us-west-2", "eu-west-1")):
        result = control.result(number)
        assert result
        assert result[0].state is TaskState.DONE
        training = client("sagemaker", region).describe_training_job(TrainingJobName=f"{run}-{number}-1")
        assert training["OutputDataConfig"]["S3OutputPath"].startswith(f"s3://sweep-local-{region}/{name}/out/{run}")
    again = {**SAID, **cloud_environment, "AWS_BATCH_JOB_ID": f"{job}:0", "AWS_BATCH_JOB_ARRAY_INDEX": "0"}
    again |= {"S3_ARRAY_FILE": f"s3://sweep-local/{name}/jobs.csv", "SWEEP_OUTPUT": "s3://sweep-local-{region}/x"}
    done = subprocess.run(
        [sys.executable, "-m", "orchestrator.launcher"], env=again, capture_output=True, text=True, check=False
    )
    assert done.returncode == Exit.DONE, done.stderr
    assert [attempt.number for attempt in control.attempts(0)] == [1]


def test_an_array_that_is_terminated_stops_its_trainings(
    submit: Callable[[float], str], client: Callable[..., Any]
) -> None:
    job = submit(600.0)
    run = run_of_job({"AWS_BATCH_JOB_ID": job})

    def states() -> set[str]:
        found = set()
        for number, region in enumerate(("us-west-2", "eu-west-1")):
            sagemaker = client("sagemaker", region)
            try:
                found.add(sagemaker.describe_training_job(TrainingJobName=f"{run}-{number}-1")["TrainingJobStatus"])
            except sagemaker.exceptions.ClientError:
                found.add("none")
        return found

    until(lambda: states() == {"InProgress"})
    client("batch").terminate_job(jobId=job, reason="enough")
    until(lambda: states() == {"Stopped"})


class Asked:
    """A world that has been asked to go, and a Batch that answers as it is told."""

    def __init__(self, answers: list[Any]) -> None:
        self.answers = answers
        self.slept = 0.0

    def terminated(self) -> bool:
        return True

    def sleep(self, seconds: float) -> None:
        self.slept += seconds

    def answer(self) -> bool:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return bool(answer)


def test_a_sigterm_is_a_cancel_only_if_batch_has_terminated_the_job() -> None:
    def standing(*answers: Any) -> Standing:
        world = Asked(list(answers))
        control = Control(bucket(), "batch-x")
        return ClassicHistory(task(), control, world, world.answer).standing()  # type: ignore[arg-type]

    assert standing(True) is Standing.CANCELLED
    assert standing(False) is Standing.WANTED
    assert standing(Throttled("slow"), Throttled("slow"), True) is Standing.CANCELLED
    assert standing(AccessDenied("no")) is Standing.WANTED
