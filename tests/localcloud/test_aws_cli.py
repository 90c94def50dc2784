"""A program that is not ours uses the local cloud: AWS's own command line, as it comes from PyPI.

It pins its botocore, so it has an environment of its own, made once under .bench/aws-cli.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.localcloud.conftest import eventually, package

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.localcloud import LocalCloud

pytestmark = pytest.mark.long  # what it does, our own client does in the other tests

HOME = Path(__file__).parents[2] / ".bench" / "aws-cli"


@pytest.fixture(scope="session")
def program() -> Path:
    done = HOME / ".installed"
    if not done.exists():
        uv = [sys.executable, "-m", "uv"]
        install = [*uv, "pip", "install", "--quiet", "--python", HOME / "bin" / "python", "awscli"]
        for command in ([*uv, "venv", "--quiet", "--clear", "--python", sys.executable, HOME], install):
            ended = subprocess.run(command, capture_output=True, text=True, check=False)
            if ended.returncode:
                pytest.skip(f"the AWS CLI cannot be installed here: {ended.stderr.strip().rpartition(chr(10))[2]}")
        done.touch()
    return HOME / "bin" / "aws"


@pytest.fixture
def aws(program: Path, cloud: LocalCloud) -> Callable[..., Any]:
    """A function that runs a command, and returns what it prints, as JSON where it is JSON."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}

    def run(*words: str, region: str = "us-east-1") -> Any:
        command = [program, "--output", "json", "--region", region, *words]
        ended = subprocess.run(
            command, env={**environment, **cloud.environment}, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout) if ended.stdout.startswith(("{", "[")) else ended.stdout

    return run


def test_the_aws_cli_copies_files_and_follows_to_their_region(
    aws: Callable[..., Any], tmp_path: Path, name: str
) -> None:
    (tmp_path / "there").write_text("seven")
    aws("s3", "cp", str(tmp_path / "there"), f"s3://sweep-local-eu-west-1/{name}/x.txt", region="us-west-2")
    assert "x.txt" in aws("s3", "ls", f"s3://sweep-local-eu-west-1/{name}/", region="eu-west-1")
    aws("s3", "sync", f"s3://sweep-local-eu-west-1/{name}/", str(tmp_path / "back"), region="eu-west-1")
    assert (tmp_path / "back" / "x.txt").read_text() == "seven"


def test_the_aws_cli_runs_an_array(aws: Callable[..., Any], client: Callable[..., Any], name: str) -> None:
    requirements = [{"type": "VCPU", "value": "0.25"}, {"type": "MEMORY", "value": "512"}]
    container = {"image": "any", "command": ["true"], "resourceRequirements": requirements}
    define = ["batch", "register-job-definition", "--job-definition-name", name, "--type", "container"]
    aws(*define, "--container-properties", json.dumps(container))
    submit = ["batch", "submit-job", "--job-name", name, "--job-queue", "sweep", "--job-definition", name]
    job = aws(*submit, "--array-properties", "size=3")["jobId"]
    eventually(lambda: client("batch").describe_jobs(jobs=[job])["jobs"][0]["status"] == "SUCCEEDED")
    (found,) = aws("batch", "describe-jobs", "--jobs", job)["jobs"]
    assert found["arrayProperties"]["statusSummary"]["SUCCEEDED"] == 3


def test_the_aws_cli_runs_a_training_and_waits_for_it(
    aws: Callable[..., Any], client: Callable[..., Any], cloud: LocalCloud, tmp_path: Path, name: str
) -> None:
    bucket = "s3://sweep-local-us-east-1"
    (tmp_path / "source.tar.gz").write_bytes(package({"train.py": "print('learned')"}))
    aws("s3", "cp", str(tmp_path / "source.tar.gz"), f"{bucket}/{name}/source.tar.gz")
    hyperparameters = {
        "sagemaker_program": json.dumps("train.py"),
        "sagemaker_submit_directory": json.dumps(f"{bucket}/{name}/source.tar.gz"),
    }
    request = {
        "TrainingJobName": name,
        "RoleArn": cloud.environment["SWEEP_ROLE"],
        "AlgorithmSpecification": {"TrainingImage": "any", "TrainingInputMode": "File"},
        "HyperParameters": hyperparameters,
        "OutputDataConfig": {"S3OutputPath": f"{bucket}/{name}/out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 5},
        "StoppingCondition": {"MaxRuntimeInSeconds": 600},
    }
    aws("sagemaker", "create-training-job", "--cli-input-json", json.dumps(request))
    training = {"TrainingJobName": name}
    eventually(lambda: client("sagemaker").describe_training_job(**training)["TrainingJobStatus"] == "Completed")
    aws("sagemaker", "wait", "training-job-completed-or-stopped", "--training-job-name", name)
    log = aws(
        "logs", "filter-log-events", "--log-group-name", "/aws/sagemaker/TrainingJobs", "--log-stream-name-prefix", name
    )
    assert "learned" in [event["message"] for event in log["events"]]
