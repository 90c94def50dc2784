from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator.cli.commands.sweeps.init import NAMES, STARTER
from orchestrator.settings.settings import read as read_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from orchestrator.localcloud import LocalCloud
    from tests.cli.calls import Sweep


def test_init_writes_files_that_can_be_planned_at_once(sweep: Sweep) -> None:
    assert sweep("init").code == 0
    assert sweep("catalog", "load", "catalog").code == 0
    assert sweep("plan", "sweep.yaml").code == 0


def test_every_starter_file_is_written(sweep: Sweep) -> None:
    sweep("init", "team")
    shipped = {
        str(path.relative_to(STARTER))
        for path in STARTER.rglob("*")
        if path.suffix in (".yaml", ".toml", ".csv", ".py")
    }
    assert set(NAMES) == shipped
    assert all((Path("team") / name).read_text() == (STARTER / name).read_text() for name in NAMES)


@pytest.mark.usefixtures("nobodys_settings")
def test_every_setting_in_the_starter_exists() -> None:
    text = (STARTER / "sweep.toml").read_text()
    given = [line.removeprefix("# ") for line in text.splitlines() if " = " in line]
    Path("sweep.toml").write_text("\n".join(given))
    assert read_settings(environ={}).queue == "sweep"


def test_the_starter_training_runs_and_logs_its_metric(tmp_path: Path) -> None:
    script = STARTER / "src" / "train.py"
    options = ["--epochs", "3", "--learning-rate", "0.1", "--batch-size", "32"]
    done = subprocess.run([sys.executable, script, *options], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.count("loss=") == 3
    assert json.loads((tmp_path / "model.json").read_text())["weight"] > 0


def test_the_data_that_the_starter_tells_of_lies_on_the_local_cloud(
    cloud: LocalCloud, client: Callable[..., Any]
) -> None:
    replicas = list(csv.DictReader((STARTER / "catalog" / "replicas.csv").read_text().splitlines()))
    assert {replica["region"] for replica in replicas} <= set(cloud.regions)
    for replica in replicas:
        bucket, _, prefix = replica["s3_uri"].removeprefix("s3://").partition("/")
        held = client("s3", replica["region"]).list_objects_v2(Bucket=bucket, Prefix=prefix)
        assert held["KeyCount"] > 0, replica["s3_uri"]


def test_init_lists_what_it_wrote(sweep: Sweep) -> None:
    assert sweep("init").out.splitlines()[0] == "sweep.yaml"
    assert json.loads(sweep("init", "other", "--json").out)["files"][0] == "other/sweep.yaml"


def test_init_replaces_nothing_unless_forced(sweep: Sweep) -> None:
    Path("sweep.toml").write_text("mine")
    ended = sweep("init")
    assert ended.code == 2
    assert ended.err == "error: sweep.toml: is already there (--force replaces it)\n"
    assert Path("sweep.toml").read_text() == "mine"
    assert not Path("sweep.yaml").exists()
    assert sweep("init", "--force").code == 0
    assert Path("sweep.toml").read_text() != "mine"


def test_a_folder_that_cannot_be_made_is_one_clear_line(sweep: Sweep) -> None:
    Path("file").write_text("")
    ended = sweep("init", "file/folder")
    assert ended.code == 2
    assert ended.err == "error: file/folder: cannot be made: Not a directory\n"
