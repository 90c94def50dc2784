"""A secret is planted, a training uses it, and it is looked for everywhere else."""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.cli.app import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from orchestrator.localcloud import LocalCloud
    from tests.fixtures.team import Team

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

USES_IT = """
import hashlib, os, pathlib
for name in ("WANDB_API_KEY", "DB_PASSWORD"):
    print(name, hashlib.sha256(os.environ[name].encode()).hexdigest())
print("references", [name for name in os.environ if name.startswith("SWEEP_SECRET_")])
for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
    try:
        print("argv", entry.read_bytes().replace(b"\\0", b" ").decode("utf-8", "replace"))
    except OSError:
        continue
print("loss=1")
"""
SECRETS = """environment:
    WANDB_API_KEY: {{ssm: /{name}/wandb, region: us-east-1}}
    DB_PASSWORD: {{secret: {name}/db, field: password}}
"""


@pytest.fixture
def planted(team: Team, client: Callable[..., Any], name: str) -> str:
    """The value that two secrets have, which the team's training needs."""
    value = f"planted-{uuid.uuid4().hex}"
    client("ssm").put_parameter(Name=f"/{name}/wandb", Value=value, Type="SecureString")
    client("secretsmanager").create_secret(Name=f"{name}/db", SecretString=json.dumps({"password": value}))
    (team.folder / "training" / "train.py").write_text(USES_IT)
    team.plan("[1]", data="{campaigns: [alps]}")
    file = team.folder / "sweep.yaml"
    text = file.read_text().replace("  hyperparameters:", f"  {SECRETS.format(name=name)}  hyperparameters:")
    file.write_text("\n".join(line for line in text.splitlines() if "BROKEN" not in line))
    return value


@pytest.fixture
def sweep(team: Team, cloud_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """`sweep("plan", ...)`, in the team's folder. It returns all that the command says."""
    assert cloud_environment
    monkeypatch.chdir(team.folder)
    monkeypatch.setenv("SWEEP_DATABASE", team.settings.database)
    monkeypatch.setenv("SWEEP_POLL_S", "0.3")

    def run(*words: str, code: int = 0) -> str:
        with redirect_stdout(StringIO()) as said, redirect_stderr(said):
            assert main(list(words)) == code, said.getvalue()
        return said.getvalue()

    return run


def test_a_secret_is_in_the_trainings_environment_and_nowhere_else(
    team: Team, cloud: LocalCloud, client: Callable[..., Any], planted: str, sweep: Callable[..., str], name: str
) -> None:
    began = time.time() - 1
    said = {
        "plan": sweep("plan", "sweep.yaml", "-o", "plan.json", "--json"),
        "dry run": sweep("submit", "plan.json", "--dry-run"),
        "submit": sweep("submit", "plan.json", "--yes", "--name", name, "--watch", "--debug"),
    }
    for command in ("status", "results", "cost", "logs"):
        said[command] = sweep(command, name, *([] if command == "logs" else ["--json"]))
    digest = hashlib.sha256(planted.encode()).hexdigest()
    for variable in ("WANDB_API_KEY", "DB_PASSWORD"):
        assert f"{variable} {digest}" in said["logs"], "the training has it"
    assert "references []" in said["logs"]
    assert said["logs"].count("argv ") > 5
    assert f"ssm:us-east-1:/{name}/wandb" in said["dry run"]
    assert "the starter, for train.environment.WANDB_API_KEY, a secret: train.py" in said["dry run"]

    training = client("sagemaker").describe_training_job(TrainingJobName=f"{name}-0-1")
    assert training["Environment"]["SWEEP_SECRET_WANDB_API_KEY"] == f"ssm:us-east-1:/{name}/wandb"
    everywhere = {
        **{f"what {command} says": text.encode() for command, text in said.items()},
        "the training's request": json.dumps(training, default=str).encode(),
        **{str(file): file.read_bytes() for file in (*files(team.folder.parent), *files(cloud.home, began))},
        **stored(client, began),
    }
    assert {"plan.json", "sweep.yaml"} <= {Path(place).name for place in everywhere}
    assert any(place.startswith("s3://sweep-local/runs/") for place in everywhere)
    assert any(content.startswith(b"SQLite format 3") for content in everywhere.values())
    assert [place for place, content in everywhere.items() if planted.encode() in content] == []


def files(folder: Path, since: float = 0) -> Iterator[Path]:
    """Every file there that has been written since then."""
    return (path for path in folder.rglob("*") if path.is_file() and path.stat().st_mtime >= since)


def stored(client: Callable[..., Any], since: float) -> dict[str, bytes]:
    """Every object of every bucket that has been put since then."""
    s3, found = client("s3"), {}
    for bucket in (each["Name"] for each in s3.list_buckets()["Buckets"]):
        there = client("s3", bucket.removeprefix("sweep-local-") if bucket != "sweep-local" else "us-east-1")
        for page in there.get_paginator("list_objects_v2").paginate(Bucket=bucket):
            for item in page.get("Contents", []):
                if item["LastModified"].timestamp() < since:
                    continue
                uri = f"s3://{bucket}/{item['Key']}"
                found[uri] = there.get_object(Bucket=bucket, Key=item["Key"])["Body"].read()
    return found


@pytest.mark.usefixtures("planted")
def test_a_secret_that_is_not_there_is_found_before_anything_is_submitted(
    client: Callable[..., Any], sweep: Callable[..., str], name: str
) -> None:
    client("ssm").delete_parameter(Name=f"/{name}/wandb")
    said = sweep("submit", "sweep.yaml", "--yes", "--name", name, code=1)
    assert f"the secret of WANDB_API_KEY is not there: ssm:us-east-1:/{name}/wandb" in said
    assert "Traceback" not in said
