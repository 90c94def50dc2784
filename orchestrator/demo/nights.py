"""Three nights of one workload, in a minute: data arrives, then nothing is new, then more data makes a better model."""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Protocol

from orchestrator.api import (
    Models,
    Orchestrator,
    Schedules,
    freeze,
    next_night,
    night_history,
    read_settings,
    show_schedule,
)
from orchestrator.demo.driving import CAMPAIGNS
from orchestrator.demo.main import only_environment, read_demo_sweep
from orchestrator.demo.sample_data import MARKET, Row, recordings, upload, write_csv
from orchestrator.errors import RunFailed
from orchestrator.localcloud import LocalCloud

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.api import Frozen, NightRow, Promotion
    from orchestrator.localcloud import Steering

REGION = "eu-central-1"
CAMPAIGN = CAMPAIGNS[0]
KEPT = "drive-6.npz"
"""The drive that every model is measured on."""
FIRST, LATER = ("drive-1.npz",), ("drive-2.npz", "drive-3.npz", "drive-4.npz", "drive-5.npz")
PATIENCE_S = 240.0
"""Seconds after which a night that has not ended will not."""
NEXT = (
    "sweep local up -d        keeps an AWS like this one running, whose clock `sweep local clock` moves",
    "docs/nightly.md          has these nights as commands, one by one",
)


class NightsOutput(Protocol):
    """Receives the nights as they end, to show them to a person or to collect them."""

    def say(self, line: str) -> None:
        """Show one line about what happens."""
        ...

    def nights(self, rows: list[NightRow]) -> None:
        """Show all nights, the newest first."""
        ...

    def champions(self, rows: list[Promotion]) -> None:
        """Show who has been champion, the newest first."""
        ...


def run_nights(output: NightsOutput, *, parallel: str = "mpi") -> None:
    """Let three nights pass. Whatever it started is stopped when it returns or raises.

    Raise UsageError if what it needs is not installed, RunFailed for a night that does not end well.
    """
    sweep = read_demo_sweep(parallel, "nights.yaml")
    with TemporaryDirectory(prefix="sweep-demo-") as folder:
        output.say(f"Starting AWS on this machine: {REGION}")
        home = Path(folder)
        with LocalCloud(home=home / "aws", regions=[REGION]) as cloud, only_environment(cloud.environment):
            team = Orchestrator(read_settings({"database": f"sqlite:///{home / 'sweep.db'}"}, folder=home))
            drives = _Drives(team.settings.region_bucket or "")
            drives.keep()
            drives.arrive(FIRST)
            team.catalog.load(_catalog(home, drives.prefix))
            team.snapshots.push(team.catalog, team.settings.owner)
            assert sweep.schedule is not None
            nights = _Nights(team, freeze(team, sweep, sweep.schedule, "nightly"), cloud.steering, output)
            nights.begin()
            output.say(f"\n{len(FIRST)} drive of {CAMPAIGN.name} lies in S3.")
            nights.pass_one()
            output.say("\nNothing arrives.")
            nights.pass_one()
            drives.arrive(LATER)
            output.say(f"\n{len(LATER)} more drives arrive, in the same folder.")
            nights.pass_one()
            nights.show()
    for line in ("\nNext:", *NEXT):
        output.say(line)


class _Drives:
    """The recordings of one campaign, which arrive little by little."""

    def __init__(self, bucket: str) -> None:
        self._bucket = bucket.format(region=REGION)
        self._files = recordings(CAMPAIGN)
        self.prefix = f"campaigns/{CAMPAIGN.name}/v1/"

    def arrive(self, names: Sequence[str]) -> None:
        """Put these drives where trainings find them."""
        upload({name: self._files[name] for name in names}, REGION, self._bucket, self.prefix)

    def keep(self) -> None:
        """Put the drive that models are measured on beside the others."""
        upload({KEPT: self._files[KEPT]}, REGION, self._bucket, f"validation/{CAMPAIGN.name}/")


def _catalog(folder: Path, prefix: str) -> list[Path]:
    name = CAMPAIGN.name
    tables: dict[str, list[Row]] = {
        "campaigns": [{"campaign": name, "tags": ";".join(CAMPAIGN.tags)}],
        "datasets": [{"campaign": name, "version": "v1", "bytes": 500_000, "created_at": CAMPAIGN.recorded}],
        "replicas": [{"dataset": f"{name}@v1", "region": REGION, "s3_uri": f"s3://sweep-local-{REGION}/{prefix}"}],
    }
    return [write_csv(folder / f"{kind}.csv", rows) for kind, rows in tables.items()] + sorted(MARKET.glob("*.csv"))


class _Nights:
    """Nights that pass by the cloud's clock, and who is champion after each."""

    def __init__(self, team: Orchestrator, frozen: Frozen, steering: Steering, output: NightsOutput) -> None:
        self._schedules = Schedules(team)
        self._models = Models(team.cloud, team.settings.owner)
        self._frozen = frozen
        self._steering = steering
        self._output = output
        self._seen: set[str] = set()

    def begin(self) -> None:
        """Make the schedule."""
        when = self._frozen.goal.when
        entry = self._schedules.create(self._frozen)
        self._output.say(f"EventBridge Scheduler starts {entry.name}: {when.cron} {when.timezone}")

    def pass_one(self) -> None:
        """Move the clock to the next two o'clock, and wait until what begins then has ended."""
        zone, now = self._frozen.goal.when.zone, self._steering.now()
        due = next_night(self._frozen.goal.when, now)
        self._steering.advance(due - now + 1)
        self._output.say(f"{datetime.fromtimestamp(due, zone):%A, %H:%M}: a Batch job begins the night")
        row = self._ended()
        self._output.say(f"{row.night}: {row.why}")
        if row.exit:
            raise RunFailed(f"the night {row.night} failed", hint=row.why)

    def _ended(self) -> NightRow:
        """Return the night that nobody has seen before, once it has ended."""
        ends = time.monotonic() + PATIENCE_S
        while time.monotonic() < ends:
            for row in night_history(self._schedules, self._frozen.goal.schedule, 1):
                if row.state == "ended" and row.night not in self._seen:
                    self._seen.add(row.night)
                    return row
            time.sleep(0.5)
        raise RunFailed("a night does not end", hint=show_schedule(self._schedules, self._frozen.goal.schedule).alarm)

    def show(self) -> None:
        """Show what there was, all in all."""
        self._output.say("\nThe nights:")
        self._output.nights(night_history(self._schedules, self._frozen.goal.schedule))
        self._output.say("\nThe champions:")
        self._output.champions(self._models.history(self._frozen.goal.sweep.name, self._schedules.leave_out))
