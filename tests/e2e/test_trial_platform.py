"""A platform that this package knows nothing of: built as a wheel, installed, and used from plan to bill."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.api import Orchestrator, Settings, read_plan, read_sweep
from orchestrator.aws.s3 import S3
from orchestrator.aws.session import Clients
from orchestrator.cli.app import main
from orchestrator.errors import SpecError
from orchestrator.localcloud import names
from orchestrator.plan.slots import tasks_by_lot, units_taken
from orchestrator.platforms import registry
from orchestrator.platforms.base import Staging
from orchestrator.platforms.conformance.suite import TRAINING, Conformance, Subject
from orchestrator.platforms.source import pack
from orchestrator.spec.sweep import Sweep
from orchestrator.wire.result import TaskState
from orchestrator.wire.task import Lane, Place, Purchase
from tests.fixtures.trial import REGIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

REGION, ELSEWHERE = REGIONS
CORES = f"sweep-trial-{REGION}-cores"
"""What children wait for in Batch, of the name that `wire.names.resource_name` makes."""
RATE = 3600.0
"""Dollars of an hour on demand, so that a second costs a dollar."""

CODE = """
import argparse, os, pathlib, sys, time

parser = argparse.ArgumentParser()
parser.add_argument("-x", type=float)
options = parser.parse_args()
(file,) = [file for file in pathlib.Path(os.environ["SM_CHANNEL_TRAINING"]).rglob("*") if file.is_file()]
print(f"x={options.x:g}: read {len(file.read_bytes())} bytes, nice {os.nice(0)}")
if pathlib.Path(os.environ["TROUBLE"]).exists():
    if options.x == 3:
        sys.exit("x=3 is broken")
    if options.x == 4:
        time.sleep(600)
print(f"loss={(options.x - 2) ** 2 + 1:.3f}")
"""

FILE = """
name: trial
data: {{campaigns: [alps]}}
train:
  source: code
  entry_point: train.py
  environment: {{TROUBLE: {trouble}}}
  metrics: {{loss: 'loss=([-+.0-9e]+)'}}
platforms: {{trial: {{nice: 3}}}}
space: {{x: [1, 2, 3, 4]}}
objective: {{minimize: loss}}
where:
  platforms: [trial]
  instance_types: [trial.small, trial.large]
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


@pytest.fixture
def subject(trial_here: None, tmp_path: Path, name: str) -> Subject:  # noqa: ARG001 (the platform must be found)
    bucket = S3(Clients(), REGION, names.bucket(REGION))
    (tmp_path / "train.py").write_text(TRAINING)
    bucket.put_once(f"{name}/code.tar.gz", pack(tmp_path).body)
    bucket.put_once(f"{name}/data/rows.csv", b"1,2")
    lane = Lane("trial", REGION, "trial.small", Purchase.ON_DEMAND)
    place = Place(lane, bucket.uri(f"{name}/data/"), RATE)
    sweep = Sweep.model_validate(
        {
            "name": "trial",
            "train": {"entry_point": "train.py", "source": ".", "metrics": {"loss": "loss=(.+)"}},
            "space": {"then": ["end"]},
            "where": {"instance_types": ["trial.small"]},
            "runtime": 0.1,
            "tags": {"cost-centre": "4711"},
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


@pytest.mark.long
class TestTrial(Conformance):
    """The whole suite, for a platform from elsewhere."""


def test_what_is_paid_for_spot_is_less_than_its_rate(subject: Subject) -> None:
    outcome = subject.outcome(subject.start(subject.task(1), subject.spot))
    assert outcome.usd == pytest.approx(outcome.billable_s / 3600 * RATE / 2)


def test_a_training_is_found_after_the_service_has_forgotten_it(subject: Subject) -> None:
    attempt = subject.start(subject.task(2))
    outcome = subject.outcome(attempt)
    until = time.monotonic() + 120
    while any(attempt.training in name for name in names_below(Path.home() / ".sweep-trial" / REGION)):
        assert time.monotonic() < until, "it is written down how it ended, and the service has not forgotten it"
        time.sleep(0.1)
    assert subject.outcome(attempt) == outcome
    assert outcome.state is TaskState.DONE


def names_below(folder: Path) -> Iterator[str]:
    """The names of all files and folders; a folder may go meanwhile."""
    return (name for _, folders, files in os.walk(folder) for name in (*folders, *files))


@dataclass(frozen=True)
class Shell:
    """A person, in the folder of the sweep."""

    folder: Path
    printed: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str) -> str:
        """Return what a command has written to stdout."""
        code = main(arguments)
        out, err = self.printed.readouterr()
        assert code == 0, err
        return out

    def json(self, *arguments: str) -> Any:
        return json.loads(self(*arguments, "--json"))


@pytest.fixture
def sweep(
    trial_here: None,  # noqa: ARG001 (the data lies in the cloud)
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Shell:
    S3(Clients(), REGION, names.bucket(REGION)).put_once("data/alps/rows.csv", b"1,2,3")
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "train.py").write_text(CODE)
    (tmp_path / "catalog").mkdir()
    for kind, lines in CATALOG.items():
        (tmp_path / "catalog" / f"{kind}.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "sweep.yaml").write_text(FILE.format(trouble=tmp_path / "trouble"))
    monkeypatch.chdir(tmp_path)
    return Shell(tmp_path, capsys)


def test_a_sweep_goes_from_its_catalog_to_its_bill(sweep: Shell, name: str) -> None:
    sweep("catalog", "load", "catalog")
    assert sweep.json("plan", "sweep.yaml", "-o", "plan.json")["tasks"] == 4
    trouble = sweep.folder / "trouble"
    trouble.touch()
    sweep("submit", "plan.json", "--yes", "--name", name)
    while not {"done": 2, "failed": 1, "running": 1}.items() <= sweep.json("status", name)["counts"].items():
        time.sleep(0.5)
    assert sweep.json("cancel", name, "--yes")["state"] == "partly_failed"
    rows = {row["point"]["x"]: row for row in sweep.json("results", name)}
    assert [rows[x]["state"] for x in (1, 2, 3, 4)] == ["done", "done", "failed", "cancelled"]
    assert rows[3]["reason"] == "x=3 is broken"

    trouble.unlink()
    assert sweep.json("retry", name)["count"] == 2
    sweep("watch", name)
    rows = sweep.json("results", name)
    assert [row["metrics"]["loss"] for row in rows] == [1.0, 2.0, 2.0, 5.0]
    assert {(row["platform"], row["instance_type"]) for row in rows} == {("trial", "trial.small")}
    assert f"[2] x=3: read 5 bytes, nice {min(os.nice(0) + 3, 19)}\n" in sweep("logs", name, "--task", "2")
    (row,) = sweep.json("cost", name)["rows"]
    assert (row["platform"], row["purchase"], row["tasks"]) == ("trial", "spot", 4)
    cores = Clients().client("batch", REGION).describe_consumable_resource(consumableResource=CORES)
    assert cores["totalQuantity"] == 3
    assert 0 < row["usd"] == pytest.approx(row["hours"] * RATE / 2)
    assert row["hours"] == pytest.approx(sum(each["billable_s"] for each in rows) / 3600)
    assert {each["instances"] for each in rows} == {1}


def test_what_the_platform_cannot_do_is_told_where_it_stands(sweep: Shell) -> None:
    file = sweep.folder / "sweep.yaml"
    file.write_text(file.read_text().replace("nice: 3", "nise: 3"))
    with pytest.raises(SpecError, match=r":9:21: unknown key 'nise' \(did you mean 'nice'\?\)$"):
        read_sweep(file, Settings())


@pytest.mark.parametrize("command", [("submit", "--yes"), ("submit", "--dry-run")], ids=" ".join)
def test_a_platform_that_the_launcher_s_image_may_lack_is_refused_before_anything_is_sent(
    sweep: Shell, monkeypatch: pytest.MonkeyPatch, name: str, command: tuple[str, ...]
) -> None:
    monkeypatch.delenv("SWEEP_LAUNCHER_PLATFORMS")
    sweep("catalog", "load", "catalog")
    sweep("plan", "sweep.yaml", "-o", "plan.json")
    assert main((*command, "plan.json", "--name", name)) == 2
    error = sweep.printed.readouterr().err
    assert "the launcher's image is not said to have the platform 'trial'" in error
    assert 'launcher_platforms = ["trial"]' in error
    assert list(S3(Clients(), REGION, names.bucket()).list(f"runs/{name}/")) == []


def test_types_of_the_platform_are_selected_by_need(sweep: Shell) -> None:
    file = sweep.folder / "sweep.yaml"
    text = file.read_text().replace("instance_types: [trial.small, trial.large]", "resources: {cpus: 2}")
    file.write_text(text.replace("runtime: {trial.small: 0.001, ", "runtime: {"))
    sweep("catalog", "load", "catalog")
    sweep("plan", "sweep.yaml", "-o", "plan.json")
    plan = read_plan(sweep.folder / "plan.json")
    assert {place.lane.instance_type for share in plan.shares for place in share.places} == {"trial.large"}
    assert "where.resources: considered trial.large" in plan.notes


def test_types_share_a_quota_with_the_cores_of_each(sweep: Shell) -> None:
    file = sweep.folder / "sweep.yaml"
    hours = "runtime: {trial.small: 2, trial.large: 1}\nplan: {deadline: 3h}\ntimeout: 3h"
    file.write_text(file.read_text().partition("runtime:")[0] + hours)
    team = Orchestrator(Settings(database=f"sqlite:///{sweep.folder / 'sweep.db'}"))
    team.catalog.load([sweep.folder / "catalog"])
    plan = team.plan(read_sweep(file, Settings()))
    assert [(str(fact.quota), fact.units) for fact in plan.quotas] == [(f"cores in {REGION}", 3)]
    cores = {lot.lane.instance_type: list(lot.quotas.values()) for lot in plan.lots}
    assert cores == {"trial.small": [1], "trial.large": [2]}
    assert sum(units_taken(plan, tasks_by_lot(plan)).values()) == 3
