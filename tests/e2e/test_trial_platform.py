"""A platform that this package knows nothing of: built as a wheel, installed, and used from plan to bill."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.aws.s3 import S3
from orchestrator.aws.session import Clients
from orchestrator.localcloud import names
from orchestrator.platforms import registry
from orchestrator.platforms.base import Staging
from orchestrator.platforms.conformance import TRAINING, Conformance, Subject
from orchestrator.platforms.source import pack
from orchestrator.spec.sweep import Sweep
from orchestrator.wire.result import TaskState
from orchestrator.wire.task import Lane, Place, Purchase

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
SWEEP = Path(sys.executable).with_name("sweep")
REGION, ELSEWHERE = "us-east-1", "eu-west-1"
RATE = 3600.0
"""Dollars of an hour on demand, so that a second costs a dollar."""

CODE = """
import argparse, os, pathlib, sys, time

parser = argparse.ArgumentParser()
parser.add_argument("--x", type=float)
parser.add_argument("--hang", type=float, default=0)
options = parser.parse_args()
(file,) = [file for file in pathlib.Path(os.environ["SM_CHANNEL_TRAINING"]).rglob("*") if file.is_file()]
print(f"x={options.x:g}: read {len(file.read_bytes())} bytes, nice {os.nice(0)}")
if options.x == 3 and pathlib.Path(os.environ["BROKEN"]).exists():
    sys.exit("x=3 is broken")
if options.x == 9:
    time.sleep(600)
print(f"loss={(options.x - 2) ** 2 + 1:.3f}")
"""

FILE = """
name: trial
data: {{campaigns: [alps]}}
train:
  source: code
  entry_point: train.py
  image: none:1
  environment: {{BROKEN: {broken}}}
  metrics: {{loss: 'loss=([-+.0-9e]+)'}}
platforms: {{trial: {{nice: 3}}}}
space: {{x: {x}}}
objective: {{minimize: loss}}
where:
  platforms: [trial]
  instance_types: [trial.small, trial.large]
  purchases: {purchases}
runtime: {{trial.small: 0.001, trial.large: 0.001}}
timeout: 10m
"""

CATALOG = {
    "campaigns": ["campaign", "alps"],
    "datasets": ["campaign,version,bytes,created_at", "alps,1,1000,2026-11-01"],
    "replicas": ["dataset,region,s3_uri", f"alps@1,{REGION},s3://{names.bucket(REGION)}/data/alps/"],
    "prices": [
        "platform,region,instance_type,purchase,usd_per_hour,observed_at",
        f"trial,{REGION},trial.small,on_demand,{RATE},2026-11-01",
        f"trial,{REGION},trial.small,spot,{RATE / 2},2026-11-01",
        f"trial,{REGION},trial.large,on_demand,{RATE * 2},2026-11-01",
    ],
    "quotas": ["platform,region,quota,units,observed_at", f"trial,{REGION},cores,3,2026-11-01"],
}

SERVE = """
import runpy, sys
sys.executable = sys.argv.pop(1)  # what a job's `python` is: the launcher's image, not the cloud's own
runpy.run_module("orchestrator.localcloud", run_name="__main__", alter_sys=True)
"""


@dataclass(frozen=True)
class Installed:
    """The platform's wheel, installed twice."""

    launcher: Path
    """The Python of an environment like the launcher's image, with the platform's wheel."""
    packages: Path
    """A folder with the wheel alone, to be put on the path of whoever submits."""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("installed")
    python, packages = folder / "launcher" / "bin" / "python", folder / "packages"
    for project in (ROOT, ROOT / "tests" / "trial_platform"):
        uv("build", "--wheel", "--out-dir", folder / "wheels", project)
    ours, trial = sorted((folder / "wheels").glob("*.whl"))
    uv("venv", "--python", sys.executable, folder / "launcher")
    uv("pip", "install", "--python", python, "boto3>=1.40")
    uv("pip", "install", "--python", python, "--no-deps", ours, trial)
    uv("pip", "install", "--target", packages, "--no-deps", trial)
    return Installed(python, packages)


def uv(*arguments: object) -> None:
    """Run uv, told what pip knows of where packages are."""
    known = {"UV_DEFAULT_INDEX": "PIP_INDEX_URL", "UV_FIND_LINKS": "PIP_FIND_LINKS"}
    environ = os.environ | {uv: os.environ[pip] for uv, pip in known.items() if os.environ.get(pip)}
    command = [sys.executable, "-m", "uv", "--quiet", *map(str, arguments)]
    subprocess.run(command, check=True, env=environ)


@pytest.fixture(scope="module")
def cloud(installed: Installed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The variables that lead to a local cloud whose launchers have the wheel, beside the platform's own service."""
    home, regions = tmp_path_factory.mktemp("home"), [REGION, ELSEWHERE]
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "SWEEP_", "PYTHON"))}
    plain |= {"HOME": str(home)}
    arguments = ["--home", str(home / "cloud"), "--regions", ",".join(regions), "--with-parent"]
    server = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(installed.launcher), *arguments],
        env=plain,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    endpoint = json.loads(server.stdout.readline())["endpoint"]
    environment = plain | names.environment(endpoint, regions) | {"PYTHONPATH": str(installed.packages)}
    service = subprocess.Popen([sys.executable, "-m", "sweep_trial.service", *regions], env=environment)
    yield environment | {"SWEEP_POLL_S": "0.3"}
    for process in (service, server):
        process.terminate()
        process.communicate()


@pytest.fixture
def here(cloud: dict[str, str], installed: Installed, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This process submits too: it finds the cloud, and the platform among its packages."""
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    for name in ("HOME", "PYTHONPATH", *(name for name in cloud if name.startswith(("AWS_", "SWEEP_")))):
        monkeypatch.setenv(name, cloud[name])
    monkeypatch.syspath_prepend(installed.packages)
    registry._installed.cache_clear()
    yield
    registry._installed.cache_clear()


@pytest.fixture
def subject(here: None, tmp_path: Path, name: str) -> Subject:  # noqa: ARG001 (the platform must be found)
    bucket = S3(Clients(), REGION, names.bucket(REGION))
    (tmp_path / "train.py").write_text(TRAINING)
    bucket.put_once(f"{name}/code.tar.gz", pack(tmp_path).body)
    bucket.put_once(f"{name}/data/rows.csv", b"1,2")
    lane = Lane("trial", REGION, "trial.small", Purchase.ON_DEMAND)
    place = Place(lane, bucket.uri(f"{name}/data/"), RATE)
    sweep = Sweep.model_validate(
        {
            "name": "trial",
            "train": {"entry_point": "train.py", "source": ".", "image": "none:1", "metrics": {"loss": "loss=(.+)"}},
            "space": {"then": ["end"]},
            "where": {"instance_types": ["trial.small"]},
            "runtime": 0.1,
        }
    )
    return Subject(
        planning=registry.make_planning("trial", {"nice": 3}),
        connect=lambda: registry.make_runner("trial", Clients()),
        staging=Staging(
            sweep=sweep,
            region=REGION,
            run=name,
            owner="ada",
            source=bucket.uri(f"{name}/code.tar.gz"),
            output=bucket.uri(f"runs/{name}"),
            role="",
            poll_s=1,
        ),
        clients=Clients(),
        place=place,
        elsewhere=replace(place, lane=replace(lane, region=ELSEWHERE)),
        wait=lambda: time.sleep(0.05),
        spot=replace(place, lane=replace(lane, purchase=Purchase.SPOT)),
        pair=replace(place, instances=2),
        short_s=1,
    )


class TestTrial(Conformance):
    """The whole suite, for a platform from elsewhere."""


def test_what_is_paid_for_spot_is_less_than_its_rate(subject: Subject) -> None:
    outcome = subject.outcome(subject.start(subject.task(1), subject.spot))
    assert outcome.usd == pytest.approx(outcome.billable_s / 3600 * RATE / 2)


def test_a_training_is_found_after_the_service_has_forgotten_it(subject: Subject) -> None:
    attempt = subject.start(subject.task(2))
    outcome = subject.outcome(attempt)
    assert not list((Path.home() / ".sweep-trial" / REGION).rglob(f"{attempt.training}*"))
    assert subject.outcome(attempt) == outcome
    assert outcome.state is TaskState.DONE


@dataclass(frozen=True)
class Shell:
    """A person, in the folder of the sweep."""

    folder: Path
    environment: dict[str, str]

    def __call__(self, *arguments: str, code: int = 0) -> tuple[str, str]:
        """Return what a command has written, to stdout and to stderr."""
        began = time.time()
        done = subprocess.run(
            [SWEEP, *arguments],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        print(arguments, time.time() - began, os.times())
        assert done.returncode == code, done.stderr + done.stdout
        return done.stdout, done.stderr

    def json(self, *arguments: str) -> Any:
        return json.loads(self(*arguments, "--json")[0])

    def write(self, x: str, purchases: str = "[on_demand]") -> None:
        text = FILE.format(x=x, purchases=purchases, broken=self.folder / "broken")
        (self.folder / "sweep.yaml").write_text(text)


@pytest.fixture
def sweep(cloud: dict[str, str], tmp_path: Path) -> Shell:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "train.py").write_text(CODE)
    (tmp_path / "catalog").mkdir()
    for kind, lines in CATALOG.items():
        (tmp_path / "catalog" / f"{kind}.csv").write_text("\n".join(lines) + "\n")
    shell = Shell(tmp_path, cloud)
    shell("catalog", "load", "catalog")
    return shell


@pytest.fixture
def data(here: None) -> None:  # noqa: ARG001 (the cloud must be found)
    S3(Clients(), REGION, names.bucket(REGION)).put_once("data/alps/rows.csv", b"1,2,3")


@pytest.mark.usefixtures("data")
def test_a_sweep_goes_from_its_catalog_to_its_bill(sweep: Shell, name: str) -> None:
    sweep.write("[1, 2, 3, 4]", "[spot]")
    (sweep.folder / "broken").touch()
    plan = sweep.json("plan", "sweep.yaml", "-o", "plan.json")
    assert plan["tasks"] == 4
    sweep("submit", "plan.json", "--yes", "--name", name)
    _, err = sweep("watch", name, code=5)
    assert err.splitlines()[-1].startswith(f"error: {name}: 1 of 4 tasks failed")
    rows = sweep.json("results", name)
    assert [row["metrics"].get("loss") for row in rows] == [1.0, 2.0, 5.0, None]
    assert rows[-1]["reason"] == "x=3 is broken"
    assert {(row["platform"], row["instance_type"]) for row in rows} == {("trial", "trial.small")}

    (sweep.folder / "broken").unlink()
    assert sweep.json("retry", name)["count"] == 1
    sweep("watch", name)
    assert [row["metrics"]["loss"] for row in sweep.json("results", name)] == [1.0, 2.0, 2.0, 5.0]
    assert "[2] x=3: read 5 bytes, nice 3\n" in sweep("logs", name, "--task", "2")[0]
    (row,) = sweep.json("cost", name)["rows"]
    assert (row["platform"], row["purchase"], row["tasks"]) == ("trial", "spot", 4)
    assert 0 < row["usd"] == pytest.approx(row["hours"] * RATE / 2)


@pytest.mark.usefixtures("data")
def test_what_hangs_is_cancelled(sweep: Shell, name: str) -> None:
    sweep.write("[9]")
    sweep("submit", "sweep.yaml", "--yes", "--name", name)
    while sweep.json("status", name)["counts"]["running"] == 0:
        time.sleep(0.1)
    assert sweep.json("cancel", name, "--yes")["state"] == "cancelled"
    sweep("watch", name, code=1)
    (row,) = sweep.json("results", name)
    assert row["state"] == "cancelled"


def test_what_the_platform_cannot_do_is_told_where_it_stands(sweep: Shell) -> None:
    sweep.write("[1]")
    file = sweep.folder / "sweep.yaml"
    file.write_text(file.read_text().replace("nice: 3", "nise: 3"))
    _, err = sweep("plan", "sweep.yaml", code=2)
    assert err.strip() == "error: sweep.yaml:9:21: unknown key 'nise' (there is only nice)"
