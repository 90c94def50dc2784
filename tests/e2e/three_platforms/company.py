"""A company with data in four Regions, whose sweeps may train on SageMaker, on EC2 and on EKS."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator import Orchestrator, Plan, read
from orchestrator.settings.settings import read as read_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

REGIONS = ("us-east-1", "us-west-2", "eu-west-1", "eu-central-1")
CAMPAIGNS = ("alps", "coast", "desert", "fjord")
"""Each is recorded in one Region, in the order of these."""
TYPES = {"sagemaker": "ml.c5.xlarge", "ec2": "c5.xlarge", "eks": "c5.xlarge"}
ON_DEMAND, SPOT = 0.3, 0.1
"""Dollars of an hour of the cheapest platform of a Region."""
DEARER = 1.25
"""The next platform asks so many times as much, and the last one that much more: EC2's boot is billed besides."""
OBSERVED = "2026-11-02"
HELD_S = 600

TRAIN = f"""
import argparse, fcntl, os, pathlib, time

parser = argparse.ArgumentParser()
parser.add_argument("-x", "--x", type=int)
options, _ = parser.parse_known_args()
training = os.environ["TRAINING_JOB_NAME"]
run, task, attempt = training.rsplit("-", 2)
folder = pathlib.Path(os.environ["MARKS"], run)
folder.mkdir(parents=True, exist_ok=True)
broken = folder / "broken"


def note(what):
    with (folder / what).open("a") as file:
        file.write(f"{{training}} {{time.time()}}\\n")


with (folder / f"{{task}}.alive").open("w") as alive:
    try:
        fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        note("twice")
    note("begun")
    print(f"x is {{options.x}}", flush=True)
    if broken.exists() and str(options.x) in broken.read_text().split():
        raise ValueError(f"x={{options.x}} is broken")
    ends_at = time.monotonic() + {HELD_S}
    while (folder / f"{{training}}.held").exists() and time.monotonic() < ends_at:
        time.sleep(0.1)
    print(f"loss={{(options.x - 2) ** 2 + 1:.3f}}", flush=True)
    pathlib.Path(os.environ["SM_MODEL_DIR"], "model.txt").write_text(training)
    note("finished")
"""

SWEEP = """
name: three
data: {data}
train:
  source: training
  entry_point: train.py
  image: "{{account}}.dkr.ecr.{{region}}.amazonaws.com/small:1"
  environment: {{MARKS: "{marks}"}}
  metrics: {{loss: 'loss=([-+.0-9e]+)'}}
space:
  x: {{range: [1, {points}], step: 1}}
objective: {{minimize: loss}}
where:
  platforms: {platforms}
  instance_types: [{types}]
runtime: 0.3
plan: {{deadline: 1h}}
timeout: 40m
retries: {retries}
patience: {patience}
"""


@dataclass
class Company:
    """Its folder, with the catalog and the code, and its way to the cloud."""

    folder: Path
    client: Callable[..., Any]
    environment: Mapping[str, str]

    def open(self) -> None:
        """Write the catalog and the code, and put the data into S3."""
        for folder in ("training", "catalog", "marks"):
            (self.folder / folder).mkdir(parents=True)
        (self.folder / "training" / "train.py").write_text(TRAIN)
        (self.folder / "sweep.toml").write_text('[platforms.eks]\ncluster = "sweep"\n')
        at_home = dict(zip(CAMPAIGNS, REGIONS, strict=True))
        for campaign, region in at_home.items():
            body = {"Bucket": f"sweep-local-{region}", "Key": f"data/{campaign}/rows.csv", "Body": b"x,y\n1,2\n"}
            self.client("s3", region).put_object(**body)
        self._write("campaigns", "campaign", CAMPAIGNS)
        self._write("datasets", "campaign,version,bytes,created_at", (f"{one},1,1000,2026-11-01" for one in CAMPAIGNS))
        found = (f"{one}@1,{region},s3://sweep-local-{region}/data/{one}/" for one, region in at_home.items())
        self._write("replicas", "dataset,region,s3_uri", found)
        self._write("prices", "platform,region,instance_type,purchase,usd_per_hour,observed_at", prices())
        self._write("quotas", "platform,region,quota,units,observed_at", quotas())
        self.orchestrator().catalog.upgrade()
        self.orchestrator().catalog.load([self.folder / "catalog"])

    def orchestrator(self, machine: str = "ours") -> Orchestrator:
        """Return what a machine of the company has: each has a database of its own."""
        database = f"sqlite:///{self.folder / machine}.db"
        made = Orchestrator(
            read_settings({"database": database, "poll_s": 0.5}, folder=self.folder, environ=dict(self.environment))
        )
        if machine != "ours":
            made.catalog.upgrade()
            made.catalog.load([self.folder / "catalog"])
        return made

    def plan(
        self,
        points: int,
        *,
        campaigns: tuple[str, ...] = CAMPAIGNS,
        platforms: tuple[str, ...] = tuple(TYPES),
        retries: int = 0,
        patience: str = "30m",
    ) -> Plan:
        """Return a plan of so many points on each campaign."""
        file = self.folder / "sweep.yaml"
        text = SWEEP.format(
            data=f"{{campaigns: [{', '.join(campaigns)}]}}",
            marks=self.folder / "marks",
            points=points,
            platforms=f"[{', '.join(platforms)}]",
            types=", ".join(dict.fromkeys(TYPES[platform] for platform in platforms)),
            retries=retries,
            patience=patience,
        )
        file.write_text(text.removeprefix("\n"))
        return self.orchestrator().plan(read(file))

    def _write(self, kind: str, header: str, lines: Any) -> None:
        (self.folder / "catalog" / f"{kind}.csv").write_text("\n".join([header, *lines]) + "\n")

    # What trainings write down of themselves

    def marks(self, run: str) -> Path:
        """Return the folder in which the trainings of a run write, and look whether they are held or broken."""
        folder = self.folder / "marks" / run
        folder.mkdir(exist_ok=True)
        return folder

    def hold(self, training: str) -> None:
        """Keep a training from ending, once it has begun."""
        (self.marks(training.rsplit("-", 2)[0]) / f"{training}.held").touch()

    def let_go(self, run: str) -> None:
        """Let all trainings of a run end."""
        for file in self.marks(run).glob("*.held"):
            file.unlink()

    def noted(self, run: str, what: str) -> dict[str, list[float]]:
        """Return when each training has noted this of itself: `begun`, `finished`, or `twice` beside another."""
        found: dict[str, list[float]] = {}
        file = self.marks(run) / what
        for line in file.read_text().splitlines() if file.exists() else ():
            training, moment = line.split()
            found.setdefault(training, []).append(float(moment))
        return found

    def is_anchored(self, run: str) -> bool:
        """Return whether the bucket knows a run of this name."""
        bucket = self.environment["SWEEP_BUCKET"]
        found = self.client("s3").list_objects_v2(Bucket=bucket, Prefix=f"runs/{run}/run.json")
        return bool(found.get("Contents"))

    def await_begun(self, run: str, trainings: Collection[str], patience_s: float = 300) -> None:
        """Wait until these trainings of a run have begun."""
        until = time.monotonic() + patience_s
        while missing := set(trainings) - self.noted(run, "begun").keys():
            assert time.monotonic() < until, f"{missing} have not begun"
            time.sleep(0.1)


def prices() -> list[str]:
    """Return a price of each lane: in each Region another platform is the cheapest."""
    found = []
    for turn, region in enumerate(REGIONS):
        for number, (platform, instance_type) in enumerate(TYPES.items()):
            factor = DEARER ** ((number + turn) % len(TYPES))
            for purchase, usd in (("on_demand", ON_DEMAND), ("spot", SPOT)):
                found.append(f"{platform},{region},{instance_type},{purchase},{usd * factor:.4f},{OBSERVED}")
    return found


def quotas() -> list[str]:
    """Return quotas by which no platform has room for all trainings of a Region: an instance each, and two pods."""
    found = []
    for region in REGIONS:
        found += [f"sagemaker,{region},ml.c5.xlarge/{bought},1,{OBSERVED}" for bought in ("spot", "on_demand")]
        found += [f"ec2,{region},{code},4,{OBSERVED}" for code in ("L-1216C47A", "L-34B43A08")]
        found += [f"eks,{region},sweep/c5.xlarge,2,{OBSERVED}"]
    return found


def tasks_by_platform(plan: Plan) -> Counter[str]:
    """Return how many tasks of a plan each platform is the first choice of."""
    found: Counter[str] = Counter()
    for share in plan.shares:
        found[share.places[0].lane.platform] += share.count
    return found
