"""The stage of all stories: a local cloud, a team with two machines, and sweeps over two Regions."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator import Orchestrator, read
from orchestrator import account as account_module
from orchestrator.aws.jobs.definitions import render
from orchestrator.localcloud import names
from orchestrator.plan.file import write_plan
from orchestrator.runs.ending import cancel
from orchestrator.settings.settings import read as read_settings
from tests.chaos.storm.versions import LATE_S, ROOT, unpack
from tests.fixtures.cloud import patient_client_of
from tests.fixtures.team import REGIONS, TABLES
from tests.fixtures.witness import Witness

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random

    from orchestrator import Plan
    from orchestrator.localcloud import LocalCloud
    from tests.chaos.storm.casts import Cast

SWEEP = """
name: {name}
data: {{campaigns: [{campaigns}]}}
pause_after: {pause_after}
canary: {canary}
train:
  source: training
  entry_point: train.py
  image: "{{account}}.dkr.ecr.{{region}}.amazonaws.com/small:1"
  environment: {{CHAOS_FOLDER: "{folder}"}}
  hyperparameters: {{hang: {hang}, stays: {stays}}}{checkpoints}
  instances: {instances}
  parallel: {parallel}{processes}
  metrics: {{loss: 'loss=([-+.0-9e]+)'}}
space:
  x: {{range: [1, {points}], step: 1}}
objective: {{minimize: loss}}
where:
  platforms: [{platforms}]
  instance_types: [{types}]
retries: 1
"""
USUAL = """
runtime: 0.01
timeout: 10m
"""
MOVING = """
runtime: 2
timeout: 6h
patience: 5s
plan: {deadline: 8h, minimize: cost, budget: 200}
"""
"""What a task has that moves. It ends in seconds, and its prices and slack are those of two hours of work."""
ELASTIC = """
platforms:
  eks:
    elastic: {{min: {least}, max: {most}}}
"""


HOME, ANYWHERE = ("alps", "coast"), "fjord"
"""Campaigns with data in one Region each, and one that is in both."""
TYPES = {"sagemaker": "ml.c5.xlarge", "ec2": "c5.xlarge", "eks": "c5.xlarge"}
"""The platforms of a story over several, each with the instance type that it has of them."""
PRICES = "platform,region,instance_type,purchase,usd_per_hour,observed_at"
GOLDEN = "nightly"
"""A run that lies in the bucket as the first version has written it. It must be readable whatever happens."""


class Stage:
    """Where all is played. Machines have a database each, and one bucket and cloud together.

    `ours` and `theirs` have SQLite, `team` is a PostgreSQL server; `old` has SQLite, and an older version of `sweep`.
    """

    def __init__(self, folder: Path, cloud: LocalCloud, seed: int, postgresql: str) -> None:
        self.folder = folder
        self.cloud = cloud
        self.seed = seed
        self.client = patient_client_of(cloud)
        self.witness = Witness(cloud)
        self._postgresql = postgresql
        self._changes = 0
        """How often prices have changed."""
        (folder / "training").mkdir(parents=True)
        shutil.copy(Path(__file__).with_name("train.py"), folder / "training" / "train.py")
        (folder / "catalog").mkdir()
        (folder / "sweep.toml").write_text('[platforms.eks]\ncluster = "sweep"\n')
        for kind, lines in _tables().items():
            (folder / "catalog" / f"{kind}.csv").write_text("\n".join(lines) + "\n")
        for region, at_home in zip(REGIONS, HOME, strict=True):
            for campaign in (at_home, ANYWHERE):
                place = {"Bucket": f"sweep-local-{region}", "Key": f"data/{campaign}/rows.csv"}
                self.client("s3", region).put_object(**place, Body=b"x,y\n1,2\n")
        golden = (ROOT / "tests" / "golden" / "v1" / "anchor.json").read_bytes()
        self.client("s3").put_object(Bucket=names.bucket(), Key=f"runs/{GOLDEN}/run.json", Body=golden)
        self.old = unpack(folder / "old")
        """The older version; None where the repository does not have it."""
        os.environ.update({**cloud.environment, "CHAOS_FOLDER": str(folder), "SWEEP_POLL_S": "0.3"})
        os.environ.pop("AWS_PROFILE", None)
        os.chdir(folder)
        for machine in ("ours", "theirs", "team"):
            catalog = self.orchestrator(machine).catalog
            catalog.upgrade()
            catalog.load([folder / "catalog"])
            catalog.engine.dispose()
        account_module.render = self._definition  # type: ignore[assignment,attr-defined]
        cancel.LATE_S = LATE_S

    def database(self, machine: str) -> str:
        return self._postgresql if machine == "team" else f"sqlite:///{self.folder / machine}.db"

    def orchestrator(self, machine: str) -> Orchestrator:
        settings = {"database": self.database(machine)}
        return Orchestrator(read_settings(settings, folder=self.folder, environ=dict(os.environ)))

    def write_plan(self, name: str, cast: Cast, chance: Random, platforms: Sequence[str]) -> Plan:
        """Write a plan of few tasks for a run of this name, and return it.

        Of several platforms EC2 is the cheapest in one Region, and EKS in the other.
        """
        values: dict[str, Any] = {
            "name": name,
            "folder": self.folder,
            "campaigns": ANYWHERE if cast.moves else ", ".join(HOME),
            "hang": round(chance.uniform(0, 1.5), 2),
            "stays": int(cast.moves or cast.elastic > 0),
            "instances": cast.instances,
            "parallel": cast.parallel,
            "processes": "\n  processes_per_instance: 2" if cast.parallel != "single" and not cast.elastic else "",
            "points": chance.randint(1, cast.points),
            "checkpoints": "\n  checkpoints: {every: 10s}" if cast.checkpoints else "",
            "pause_after": 2 if cast.broken else 0,
            "canary": cast.canary,
            "platforms": ", ".join(platforms),
            "types": ", ".join(dict.fromkeys(TYPES[platform] for platform in platforms)),
        }
        if len(platforms) > 1:
            self.change_prices(chance, cheapest=chance.sample(["ec2", "eks"], len(REGIONS)))
        text = SWEEP.format(**values) + (MOVING if cast.moves else USUAL)
        if cast.elastic:
            text += ELASTIC.format(least=cast.elastic, most=cast.instances)
        file = self.folder / "sweep.yaml"
        file.write_text(text)
        plan = self.orchestrator("ours").plan(read(file))
        (self.folder / f"{name}.json").unlink(missing_ok=True)
        write_plan(plan, self.folder / f"{name}.json")
        if cast.name == "older launchers":
            (self.folder / f"{name}.old").touch()
        if cast.moves:
            (self.folder / f"{name}.moves").touch()
        if cast.broken:
            self.broken(name).touch()
        return plan

    def change_prices(self, chance: Random, cheapest: Sequence[str] = ()) -> None:
        """Make spot dearer than machines on demand, or much cheaper, on all machines: so other places are the best.

        `cheapest` names the platform that is to be the cheapest of each Region; unless it does, any may be.
        """
        self._changes += 1
        lines = [PRICES]
        at = f"2026-11-02T00:{self._changes // 60:02}:{self._changes % 60:02}Z"
        for number, region in enumerate(REGIONS):
            for platform, instance_type in TYPES.items():
                usd = chance.choice([0.04, 0.3]) + chance.randint(0, 9) / 1000
                if cheapest and cheapest[number] == platform:
                    usd = 0.003  # so cheap that its boot, which is billed too, is cheaper than others' hours
                lines.append(f"{platform},{region},{instance_type},spot,{usd:.3f},{at}")
        file = self.folder / "prices.csv"
        file.write_text("\n".join(lines) + "\n")
        for machine in ("ours", "theirs", "team"):
            catalog = self.orchestrator(machine).catalog
            catalog.load([file])
            catalog.engine.dispose()

    def broken(self, name: str) -> Path:
        """Return the file that makes the trainings of a run fail while it is there."""
        return self.folder / f"{name}.broken"

    def calm(self, yes: bool) -> None:
        """Say whether launchers that start now are left alone."""
        mark = self.folder / "calm"
        if yes:
            mark.touch()
        else:
            mark.unlink(missing_ok=True)

    def _definition(self, text: str, values: Mapping[str, str]) -> dict[str, Any]:
        """Return the launcher's job definition, with our launcher in it."""
        body = render(text, values)
        body["containerProperties"]["command"] = ["python", "-m", "tests.chaos.storm.launcher"]
        body["containerProperties"]["environment"] = [
            {"name": "PYTHONPATH", "value": str(ROOT)},
            {"name": "CHAOS_FOLDER", "value": str(self.folder)},
            {"name": "CHAOS_SEED", "value": str(self.seed)},
        ]
        return body


def _tables() -> dict[str, list[str]]:
    """Return the catalog: the team's, and what is in both Regions."""
    tables = {kind: list(lines) for kind, lines in TABLES.items()}
    tables["campaigns"] += [ANYWHERE]
    tables["datasets"] += [f"{ANYWHERE},1,1000,2026-11-01"]
    tables["replicas"] += [f"{ANYWHERE}@1,{region},s3://sweep-local-{region}/data/{ANYWHERE}/" for region in REGIONS]
    return {**tables, "prices": [PRICES, *_first_prices()]}


def _first_prices() -> list[str]:
    return [
        f"{platform},{region},{instance_type},{purchase},{usd},2026-11-01"
        for region in REGIONS
        for platform, instance_type in TYPES.items()
        for purchase, usd in (("on_demand", 0.2), ("spot", 0.08))
    ]
