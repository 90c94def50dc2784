"""Helpers of these tests: they start a job or a training, wait for its end, read its log."""

from __future__ import annotations

import io
import json
import tarfile
import time
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from tests.fixtures.cloud import client_of
from tests.localcloud import account

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    from orchestrator.localcloud import LocalCloud

    Files: TypeAlias = "str | Mapping[str, str | bytes]"
    """A training's code: a script, or several files, among them train.py."""

WAIT_FOR_SIGTERM = "trap 'exit 5' TERM; echo ready; while :; do sleep 0.05; done"


def eventually(look: Callable[[], Any], within_s: float = account.LONGEST_S) -> Any:
    """Look again and again, and return the first truthy thing that is seen."""
    deadline = time.monotonic() + within_s
    pause_s = 5 if account.IS_REAL else 0.02
    while not (seen := look()):
        assert time.monotonic() < deadline, "it never came"
        time.sleep(pause_s)
        pause_s = max(pause_s, min(pause_s * 1.5, 0.2))  # a look costs our own cloud as much as a small training
    return seen


def refused(call: Callable[..., Any], **arguments: Any) -> str:
    """Return the message of Batch's refusal of a request."""
    with pytest.raises(ClientError) as caught:
        call(**arguments)
    assert caught.value.response["Error"]["Code"] == "ClientException"
    return str(caught.value.response["Error"]["Message"])


class BatchDesk:
    """A Region's Batch, with one definition that runs a shell command."""

    def __init__(self, client: Any, name: str) -> None:
        self.client = client
        self.name = name
        self.queue = account.given("SWEEP_QUEUE", "sweep")

    def define(self, command: list[str], **more: Any) -> str:
        container = {
            "image": account.given("SWEEP_CONFORMANCE_IMAGE", "launcher"),
            "command": command,
            "resourceRequirements": [{"type": "VCPU", "value": "0.25"}, {"type": "MEMORY", "value": "512"}],
            **more.pop("container", {}),
        }
        made = self.client.register_job_definition(
            jobDefinitionName=self.name, type="container", containerProperties=container, **more
        )
        return str(made["jobDefinitionArn"])

    def submit(self, command: list[str] | str, **more: Any) -> str:
        """Submit a shell script, or a command word by word. Return the job's id."""
        words = ["sh", "-c", command] if isinstance(command, str) else command
        definition = more.pop("definition", None) or self.define(words)
        job = self.client.submit_job(jobName=self.name, jobQueue=self.queue, jobDefinition=definition, **more)
        return str(job["jobId"])

    def job(self, job: str) -> dict[str, Any]:
        found: dict[str, Any] = self.client.describe_jobs(jobs=[job])["jobs"][0]
        return found

    def own_queue(self, vcpus: float = 1) -> None:
        """Make a queue for this test alone. On one vCPU, four of our jobs run at once."""
        if account.IS_REAL:
            pytest.skip("it makes a compute environment: in a real account that wants subnets and roles")
        resources = {"type": "FARGATE", "maxvCpus": vcpus, "subnets": ["subnet-1"]}
        self.client.create_compute_environment(
            computeEnvironmentName=self.name, type="MANAGED", computeResources=resources
        )
        order = [{"order": 1, "computeEnvironment": self.name}]
        self.client.create_job_queue(jobQueueName=self.name, priority=1, computeEnvironmentOrder=order)
        self.queue = self.name

    def counts(self, array: str) -> dict[str, int]:
        """Return the states that children of an array are in, and how many are in each."""
        summary = self.job(array)["arrayProperties"]["statusSummary"]
        return {status: count for status, count in summary.items() if count}

    def in_state(self, job: str, *states: str) -> dict[str, Any]:
        def look() -> dict[str, Any] | None:
            found = self.job(job)
            return found if found["status"] in states else None

        found: dict[str, Any] = eventually(look)
        return found

    def end(self, job: str) -> dict[str, Any]:
        return self.in_state(job, "SUCCEEDED", "FAILED")


class TrainingDesk:
    """A Region's SageMaker, with code and data in that Region's bucket."""

    def __init__(self, make: Callable[..., Any], name: str, region: str = "us-east-1") -> None:
        self.client = make("sagemaker", region)
        self.s3 = make("s3", region)
        self.logs = make("logs", region)
        self.name = name
        self.bucket = account.given("SWEEP_REGION_BUCKET", "sweep-local-{region}").format(region=region)
        self.role = account.given("SWEEP_ROLE", "arn:aws:iam::123456789012:role/sweep-training")
        self.s3.put_object(Bucket=self.bucket, Key=f"{name}/data/part/x.txt", Body=b"seven")

    def request(self, script: Files, **changes: Any) -> dict[str, Any]:
        key = f"{self.name}/sourcedir.tar.gz"
        files = {"train.py": script} if isinstance(script, str) else script
        self.s3.put_object(Bucket=self.bucket, Key=key, Body=package(files))
        hyperparameters = {
            "sagemaker_program": json.dumps("train.py"),
            "sagemaker_submit_directory": json.dumps(f"s3://{self.bucket}/{key}"),
            **changes.pop("hyperparameters", {}),
        }
        source = {"S3DataType": "S3Prefix", "S3Uri": f"s3://{self.bucket}/{self.name}/data/"}
        return {
            "TrainingJobName": self.name,
            "RoleArn": self.role,
            "AlgorithmSpecification": {
                "TrainingImage": account.given("SWEEP_CONFORMANCE_IMAGE", "image"),
                "TrainingInputMode": "File",
            },
            "HyperParameters": hyperparameters,
            "InputDataConfig": [{"ChannelName": "training", "DataSource": {"S3DataSource": source}}],
            "OutputDataConfig": {"S3OutputPath": f"s3://{self.bucket}/{self.name}/out"},
            "ResourceConfig": {"InstanceType": "ml.c5.xlarge", "InstanceCount": 1, "VolumeSizeInGB": 10},
            "StoppingCondition": {"MaxRuntimeInSeconds": 600},
            **changes,
        }

    def start(self, script: Files, **changes: Any) -> str:
        request = self.request(script, **changes)
        self.create(**request)
        return str(request["TrainingJobName"])

    def create(self, **request: Any) -> None:
        """Call CreateTrainingJob. Whoever has asked too often, as tests of refusals do, is told so, and asks again."""
        while True:
            try:
                self.client.create_training_job(**request)
            except ClientError as error:
                if error.response["Error"]["Code"] != "ThrottlingException":
                    raise
                time.sleep(0.1)
            else:
                return

    def training(self) -> dict[str, Any]:
        found: dict[str, Any] = self.client.describe_training_job(TrainingJobName=self.name)
        return found

    def end(self, within_s: float = account.LONGEST_S) -> dict[str, Any]:
        def look() -> dict[str, Any] | None:
            found = self.training()
            return found if found["TrainingJobStatus"] not in ("InProgress", "Stopping") else None

        found: dict[str, Any] = eventually(look, within_s)
        return found

    def run(self, script: Files, **changes: Any) -> dict[str, Any]:
        self.start(script, **changes)
        return self.end()

    def log(self, host: str = "algo-1") -> list[str]:
        group = "/aws/sagemaker/TrainingJobs"
        streams = self.logs.describe_log_streams(logGroupName=group, logStreamNamePrefix=f"{self.name}/{host}-")
        stream = streams["logStreams"][0]["logStreamName"]
        events = self.logs.get_log_events(logGroupName=group, logStreamName=stream, startFromHead=True)["events"]
        return [event["message"] for event in events]

    def says(self, text: str) -> bool:
        """Return True when it has printed a line with this text by now."""
        try:
            return any(text in line for line in self.log())
        except (IndexError, self.logs.exceptions.ResourceNotFoundException):
            return False

    def stored(self, key: str) -> bytes:
        body: bytes = self.s3.get_object(Bucket=self.bucket, Key=f"{self.name}/{key}")["Body"].read()
        return body

    def files_in(self, key: str) -> dict[str, bytes]:
        with tarfile.open(fileobj=io.BytesIO(self.stored(key)), mode="r:gz") as tar:
            files = {each.name: tar.extractfile(each) for each in tar.getmembers()}
            return {name: file.read() for name, file in files.items() if file}


def training_refused(sagemaker: TrainingDesk, **changes: Any) -> tuple[str, str]:
    """Return the code and the words of CreateTrainingJob's refusal of a request with these changes."""
    with pytest.raises(ClientError) as caught:
        sagemaker.create(**sagemaker.request("pass") | changes)
    error = caught.value.response["Error"]
    return error["Code"], error["Message"]


def package(files: Mapping[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, text in files.items():
            body = text.encode() if isinstance(text, str) else text
            entry = tarfile.TarInfo(name)
            entry.size = len(body)
            tar.addfile(entry, io.BytesIO(body))
    return buffer.getvalue()


def wheel(module: str, code: str) -> bytes:
    """Return a wheel of one module, as pip installs it."""
    info = f"{module}-1.0.dist-info"
    files = {
        f"{module}.py": code,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in (*files, f"{info}/RECORD"))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    account.leave_out(items)


if account.IS_REAL:

    @pytest.fixture(scope="session")
    def cloud() -> None:
        pytest.skip(account.NOT_THERE)

    @pytest.fixture(scope="session")
    def client() -> Callable[..., Any]:
        import boto3

        return lambda service, region="us-east-1": boto3.client(service, region_name=region)

else:

    @pytest.fixture(scope="session")
    def cloud(moved_cloud: LocalCloud) -> LocalCloud:
        """The cloud whose clock may be moved: many tests here let hours go by."""
        return moved_cloud

    @pytest.fixture(scope="session")
    def client(cloud: LocalCloud) -> Callable[..., Any]:
        return client_of(cloud)


@pytest.fixture
def batch(client: Callable[..., Any], name: str) -> BatchDesk:
    return BatchDesk(client("batch"), name)


@pytest.fixture
def sagemaker(client: Callable[..., Any], name: str) -> TrainingDesk:
    return TrainingDesk(client, name)
