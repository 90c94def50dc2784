from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from orchestrator import resources
from tests.catalog.conftest import small
from tests.fixtures.programs import uv

if TYPE_CHECKING:
    from pathlib import Path

SWEEP = """
name: nightly
data: {campaigns: [alps]}
train: {entry_point: train.py, source: training, image: "registry/steering:1"}
space: {lr: [0.01, 0.1]}
where: {instance_types: [ml.g5.xlarge]}
runtime: 0.5
"""


def test_a_checkout_has_its_resources_beside_the_package() -> None:
    assert resources.text("sql/candidates.sql").startswith("-- Every dataset")
    assert json.loads(resources.text("job_definitions/launcher.json"))
    assert resources.path("sql/migrations/versions").is_dir()


def test_what_is_missing_is_named() -> None:
    with pytest.raises(FileNotFoundError, match=r"sql/nothing\.sql is missing from this installation"):
        resources.path("sql/nothing.sql")


@pytest.mark.long
def test_a_wheel_plans_in_an_empty_folder(tmp_path: Path) -> None:
    """Built, installed with its dependencies into a new environment, and run far from the checkout."""
    checkout = resources.path("sql").parent
    uv("build", "--wheel", "--out-dir", tmp_path / "dist", checkout)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    uv("venv", "--python", sys.executable, tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    uv("pip", "install", "--python", python, wheel)
    folder = tmp_path / "empty"
    folder.mkdir()
    (folder / "training").mkdir()
    (folder / "training" / "train.py").touch()
    (folder / "sweep.yaml").write_text(SWEEP)
    small(folder / "rows")

    def run(program: str, *arguments: str) -> str:
        command = [str(python.with_name(program)), *arguments]
        environ = {"PATH": os.environ["PATH"], "HOME": str(folder)}
        return subprocess.run(command, cwd=folder, env=environ, check=True, stdout=subprocess.PIPE, text=True).stdout

    code = "from orchestrator.resources import path; print(path('job_definitions/launcher.json'))"
    assert run("python", "-c", code).startswith(str(tmp_path / "venv"))
    run("sweep", "catalog", "load", "rows")
    assert (folder / "sweep.db").is_file()
    assert json.loads(run("sweep", "plan", "sweep.yaml", "--json"))["tasks"] == 2
