"""The image's install steps and its command, followed in a virtual environment: there may be no docker here."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from orchestrator.aws.jobs.definitions import render
from orchestrator.wire.exits import Exit
from tests.aws.jobs.test_definitions import LAUNCHER, VALUES
from tests.fixtures.programs import uv

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "containers" / "launcher" / "Dockerfile").read_text()


def copied() -> list[str]:
    """Return what the first stage copies from the checkout."""
    lines = re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE)
    return [word for line in lines for word in line.split()[:-1]]


def test_the_image_runs_what_the_job_definition_runs() -> None:
    command = re.search(r"^CMD (.+)$", DOCKERFILE, re.MULTILINE)
    assert command
    assert command[1].replace('"', "'") == str(render(LAUNCHER.read_text(), VALUES)["containerProperties"]["command"])


def test_the_image_does_not_run_as_root() -> None:
    (user,) = re.findall(r"^USER (\d+)$", DOCKERFILE, re.MULTILINE)
    assert int(user) > 0


def test_a_wheel_built_from_what_the_image_copies_runs_with_boto3_alone(tmp_path: Path) -> None:
    source = tmp_path / "src"
    source.mkdir()
    for name in copied():
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, source / name)
    uv("build", "--wheel", "--out-dir", tmp_path / "wheels", source)
    (wheel,) = (tmp_path / "wheels").glob("*.whl")
    venv = tmp_path / "venv"
    python = venv / "bin" / "python"
    uv("venv", "--python", sys.executable, venv)
    uv("pip", "install", "--python", python, "boto3>=1.40")
    uv("pip", "install", "--python", python, "--no-deps", wheel)
    run = subprocess.run([python, "-m", "orchestrator.launcher"], env={}, capture_output=True, text=True, check=False)
    assert run.returncode == Exit.TASK_WRONG, run.stderr
    assert "SWEEP_MANIFEST: not an S3 URI" in run.stderr
    runner = (
        "from orchestrator.aws.session import Clients; from orchestrator.platforms.registry import make_runner; "
        "print(type(make_runner('sagemaker', Clients())).__name__)"
    )
    found = subprocess.run([python, "-c", runner], env={}, capture_output=True, text=True, check=False)
    assert found.stdout.strip() == "SageMakerRunner", found.stderr
