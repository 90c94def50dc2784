"""Each training image's install steps, followed in a virtual environment, and its command, run there: there may be no
docker here, and the steps that need a system of their own (apt, ssh keys) are left out."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import pytest

Image: TypeAlias = tuple[Path, dict[str, str]]
ROOT = Path(__file__).parents[1]
CONTAINERS = ROOT / "containers"
IMAGES = sorted(path.parent.name for path in CONTAINERS.glob("*/Dockerfile"))
SYSTEM = ("apt-get", "ssh-keygen")

PIP = """#!/bin/sh
# uv plays pip: it takes seconds where pip takes a minute.
set -e
shift
for option; do
    shift
    case $option in --no-cache-dir | --quiet) ;; *) set -- "$@" "$option" ;; esac
done
exec {uv} pip install --quiet --python {python} {links} "$@"
"""

TRAINING = """
import argparse, os, pathlib
import torch, torch.distributed as dist
{imports}
parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int)
dist.init_process_group("gloo")
total = torch.ones(1)
dist.all_reduce(total)
said = f"{{int(total)}} ranks, {{parser.parse_args().epochs}} epochs"
pathlib.Path(os.environ["SM_MODEL_DIR"], f"rank-{{dist.get_rank()}}").write_text(said)
dist.barrier()
os._exit(0)  # gloo's threads may abort a slower end
"""


@dataclass(frozen=True)
class Dockerfile:
    """The instructions of one, in order."""

    name: str
    steps: tuple[tuple[str, str], ...] = field(default=())

    @classmethod
    def read(cls, name: str) -> Dockerfile:
        text = (CONTAINERS / name / "Dockerfile").read_text()
        lines = re.sub(r"\\\n", " ", re.sub(r"^\s*#.*\n", "", text, flags=re.MULTILINE)).splitlines()
        parts = [line.partition(" ") for line in lines if line]
        return cls(name, tuple((word, " ".join(rest.split())) for word, _, rest in parts))

    def follow(self, root: Path, environment: dict[str, str]) -> None:
        """Copy and run, with `root` for `/`."""
        for word, rest in self.steps:
            if word == "COPY":
                copy(root, rest.split())
            elif word == "RUN" and not any(program in rest for program in SYSTEM):
                command = ["sh", "-ec", rest.replace("/src", f"{root}/src")]
                done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
                assert done.returncode == 0, f"{rest}\n{done.stdout}\n{done.stderr}"


def copy(root: Path, words: list[str]) -> None:
    *sources, target = words
    to = root / target.lstrip("/")
    (to if target.endswith("/") else to.parent).mkdir(parents=True, exist_ok=True)
    for source in sources:
        (shutil.copytree if (ROOT / source).is_dir() else shutil.copy)(ROOT / source, to)


@pytest.mark.parametrize("name", IMAGES)
def test_an_image_copies_what_is_there(name: str) -> None:
    steps = [rest for word, rest in Dockerfile.read(name).steps if word == "COPY" and "--from" not in rest]
    copied = [rest.split()[:-1] for rest in steps]
    assert copied
    assert not [source for sources in copied for source in sources if not (ROOT / source).exists()]


@pytest.mark.parametrize("name", IMAGES)
def test_an_image_is_built_by_the_command_that_it_says(name: str) -> None:
    text = (CONTAINERS / name / "Dockerfile").read_text()
    assert f"docker build --file containers/{name}/Dockerfile --tag sweep-{name}:1 ." in text


def test_the_linter_has_nothing_to_say() -> None:
    lint = [Path(sys.executable).with_name("hadolint"), *(CONTAINERS / name / "Dockerfile" for name in IMAGES)]
    done = subprocess.run(lint, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_pytorch_is_pinned_in_one_place() -> None:
    pytest.importorskip("tomllib", reason="the images have Python 3.11")
    printed = subprocess.run(
        [sys.executable, CONTAINERS / "pinned.py", "torch"], capture_output=True, text=True, check=True
    ).stdout
    assert printed in {f"{line}\n" for line in re.findall(r'"(torch==[\d.]+)"', (ROOT / "pyproject.toml").read_text())}
    elsewhere = [path for path in CONTAINERS.rglob("*") if path.is_file() and re.search(r"torch==\d", path.read_text())]
    assert not elsewhere


@pytest.fixture(scope="module")
def pytorch(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """The root and the environment of sweep-pytorch."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed: `make torch`")
    if shutil.which("gcc") is None:
        pytest.skip("no C compiler, which AWS's toolkit needs")
    root = tmp_path_factory.mktemp("image")
    venv = root / "venv"
    uv = Path(sys.executable).with_name("uv")
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, venv], check=True)
    links = os.environ.get("PIP_FIND_LINKS")
    pip = venv / "bin" / "pip"
    where = f"--find-links {links}" if links else "--torch-backend cpu"
    pip.write_text(PIP.format(uv=uv, python=venv / "bin" / "python", links=where))
    pip.chmod(0o755)
    environment = {**os.environ, "PATH": f"{venv / 'bin'}{os.pathsep}{os.environ['PATH']}", "VIRTUAL_ENV": str(venv)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # compiled is what is imported, once
    Dockerfile.read("pytorch").follow(root, environment)
    return root, environment


@pytest.fixture(scope="module")
def lightning(pytorch: Image) -> Image:
    """The same as sweep-lightning, which is made from it."""
    Dockerfile.read("lightning").follow(*pytorch)
    return pytorch


@pytest.mark.long
@pytest.mark.parametrize("name", ["pytorch", "lightning"])
def test_an_image_trains_by_its_own_command(request: pytest.FixtureRequest, name: str, tmp_path: Path) -> None:
    root, environment = request.getfixturevalue(name)
    steps = dict(Dockerfile.read("pytorch").steps)
    python, pid1, command = (*json.loads(steps["ENTRYPOINT"]), *json.loads(steps["CMD"]))
    programs = Path(environment["VIRTUAL_ENV"]) / "bin"
    variables = dict(part.split("=", 1) for part in steps["ENV"].split())
    base = tmp_path / "ml"
    training(base, TRAINING.format(imports="import lightning" if name == "lightning" else ""))
    done = subprocess.run(
        [programs / python, f"{root}{pid1}", programs / command],
        env={**environment, **variables, "SAGEMAKER_BASE_DIR": str(base), "SM_STUDIO_LOCAL_MODE": "true"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for rank in (0, 1):
        assert (base / "model" / f"rank-{rank}").read_text() == "2 ranks, 3 epochs"


def training(base: Path, script: str) -> None:
    """What SageMaker lays out for a container: /opt/ml, here `base`."""
    code, config = base / "code", base / "input" / "config"
    for folder in (code, config, base / "input" / "data" / "training", base / "output", base / "model"):
        folder.mkdir(parents=True)
    (code / "train.py").write_text(script)
    hyperparameters = {
        "epochs": 3,
        "sagemaker_program": "train.py",
        "sagemaker_submit_directory": str(code),
        "sagemaker_torch_distributed_enabled": True,
        "sagemaker_mpi_num_of_processes_per_host": 2,
        "sagemaker_job_name": "image-test",
        "sagemaker_region": "us-east-1",
        "sagemaker_container_log_level": 20,
    }
    group = {"instance_group_name": "homogeneousCluster", "instance_type": "ml.c5.xlarge", "hosts": ["algo-1"]}
    hosts = {
        "current_host": "algo-1",
        "current_instance_type": "ml.c5.xlarge",
        "current_group_name": "homogeneousCluster",
        "hosts": ["algo-1"],
        "instance_groups": [group],
        "network_interface_name": "lo",
    }
    channel = {"TrainingInputMode": "File", "S3DistributionType": "FullyReplicated", "RecordWrapperType": "None"}
    encoded = {name: json.dumps(value) for name, value in hyperparameters.items()}
    for name, content in (
        ("hyperparameters", encoded),
        ("resourceconfig", hosts),
        ("inputdataconfig", {"training": channel}),
    ):
        (config / f"{name}.json").write_text(json.dumps(content))
