"""A task with a deadline on the local cloud, whose spot machines come and go in two Regions as on a trace.

The training is a real process, which works as the cloud's clock goes on. The launcher lives in this process, by the
same clock: whenever it sleeps, time passes.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.spot.policies import Ours
from benchmarks.spot.simulate import Job, simulate
from benchmarks.spot.traces import Trace, Zone
from orchestrator.aws.session import Clients
from orchestrator.launcher.drive import Driver
from orchestrator.launcher.task_history import TaskHistory
from orchestrator.launcher.world import World
from orchestrator.platforms.registry import make_runner
from orchestrator.wire.exits import Exit
from orchestrator.wire.result import TaskState
from orchestrator.wire.task import Expected, Lane, Limits, Place, Purchase, Task
from tests.fixtures.cloud import client_of
from tests.launcher import test_on_the_cloud
from tests.launcher.test_on_the_cloud import REGIONS, Launchers

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from orchestrator.aws.control import Control
    from orchestrator.localcloud.cloud import LocalCloud

HOUR = 3600.0
TICK_HOURS = 0.25
OPEN = {
    REGIONS[0]: "1111111111000000000000001111111111111111111111111111",
    REGIONS[1]: "0000111111111111111111111111000000000000111111111111",
}
"""The Regions, and in which quarters of an hour each has machines on spot."""
STEPS = 32
STEP_HOURS = 0.25
TRAIN = """
import os, pathlib, time
from orchestrator import Checkpoints

SHARED = pathlib.Path({shared!r})
step = 0


def now():
    return float((SHARED / "clock").read_text())


def save(path):
    path.write_text(str(step))


def load(path):
    global step
    step = int(path.read_text())
    with (SHARED / "went-on").open("a") as file:
        print(step, file=file)


def tell(words):
    draft = SHARED / f"{{os.getpid()}}.new"
    draft.write_text(f"{{now()}} {{words}}")
    draft.replace(SHARED / f"{{os.getpid()}}.says")


due = now() + {start_s}
for done in Checkpoints(save, load, every_s=0).steps({steps}):
    due += {step_s}
    while now() < due:
        tell(done)
        time.sleep(0.005)
    step = done + 1
"""


@dataclass
class Clock:
    """The cloud's time as the launcher and the training have it. Whoever sleeps waits for the training to keep up."""

    cloud: LocalCloud
    client: Callable[..., Any]
    shared: Path
    control: Control
    schedule: list[tuple[float, str, bool]] = field(default_factory=list)
    """When a Region comes to have machines on spot, or loses them, in order."""

    def now(self) -> float:
        return self.cloud.steering.now()

    def sleep(self, seconds: float) -> None:
        until = self.now() + seconds
        while self.now() < until:
            step = min(until - self.now(), 300.0)
            if self.schedule:
                step = min(step, max(self.schedule[0][0] - self.now(), 0.0))
            self.cloud.advance(step)
            while self.schedule and self.schedule[0][0] <= self.now():
                self.change(*self.schedule.pop(0))
            self.tell()

    def change(self, moment: float, region: str, is_open: bool) -> None:
        """Let a Region lose its machines on spot, until they come again."""
        if is_open:
            return
        again = [when for when, where, opens in self.schedule if where == region and opens]
        lasts = (again[0] if again else moment + 100 * HOUR) - self.now()
        self.cloud.steering.add("capacity", region=region, purchase="spot", seconds=lasts)
        training = self.training()
        if training and f":{region}:" in training["TrainingJobArn"] and training["SecondaryStatus"] == "Training":
            self.cloud.steering.add("reclaim", training["TrainingJobName"])

    def tell(self) -> None:
        """Tell the trainings what time it is, and wait until each that trains has heard it."""
        now = self.now()
        draft = self.shared / "clock.new"
        draft.write_text(repr(now))
        draft.replace(self.shared / "clock")
        until = time.monotonic() + 60
        while True:
            training = self.training()
            works = training is not None and training["SecondaryStatus"] in {"Downloading", "Training", "Stopping"}
            if not works or any(self.heard(now)):
                return
            assert time.monotonic() < until, training

    def heard(self, now: float) -> list[bool]:
        said = [file.read_text().split() for file in self.shared.glob("*.says")]
        return [float(words[0]) >= now for words in said if words]

    def training(self) -> dict[str, Any] | None:
        """The newest training as SageMaker tells of it, if it has not ended: it may be asked five times a second."""
        attempts = self.control.attempts(0)
        if not attempts:
            return None
        sagemaker = self.client("sagemaker", attempts[-1].lane.region)
        time.sleep(0.25)
        try:
            found: dict[str, Any] = sagemaker.describe_training_job(TrainingJobName=attempts[-1].training)
        except sagemaker.exceptions.ClientError as error:
            if error.response["Error"]["Code"] != "ValidationException":
                raise
            return None  # it is not started yet
        return found if found["TrainingJobStatus"] in {"InProgress", "Stopping"} else None


def changes(begin: float) -> list[tuple[float, str, bool]]:
    """When a Region's machines come and go, from its trace."""
    found = []
    for region, ticks in OPEN.items():
        before = "1"
        for number, tick in enumerate(ticks):
            if tick != before:
                found.append((begin + number * TICK_HOURS * HOUR, region, tick == "1"))
            before = tick
    return sorted(found)


@pytest.fixture(scope="session")
def cloud(moved_cloud: LocalCloud) -> LocalCloud:
    return moved_cloud


@pytest.fixture(scope="session")
def client(cloud: LocalCloud) -> Callable[..., Any]:
    return client_of(cloud)


@pytest.mark.long
def test_a_deadline_is_kept_on_spot_that_comes_and_goes_in_two_regions(
    cloud: LocalCloud,
    client: Callable[..., Any],
    cloud_environment: dict[str, str],
    tmp_path: Path,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    script = TRAIN.format(shared=str(shared), steps=STEPS, step_s=STEP_HOURS * HOUR, start_s=0.1 * HOUR)
    monkeypatch.setattr(test_on_the_cloud, "TRAIN", script)
    staged = Launchers(cloud_environment, tmp_path, name)
    for region in REGIONS:
        key, template = staged.control.keys.template("sagemaker", region), staged.control.template("sagemaker", region)
        template = replace(template, checkpoints=True, poll_s=300.0)
        staged.control.s3.put_if(key, json.dumps(template.to_json()).encode(), staged.control.s3.get(key).etag)

    clock = Clock(cloud, client, shared, staged.control)
    begin = clock.now()
    clock.schedule = changes(begin)
    clock.tell()
    clock.sleep(1.0)
    hours = STEPS * STEP_HOURS
    spot = [
        replace(place, rate=3.0, expected=Expected(hours, 1.0, 0.1), leave_usd_per_gb=1e6) for place in staged.places
    ]
    lane = Lane("sagemaker", REGIONS[0], spot[0].lane.instance_type, Purchase.ON_DEMAND)
    dear = Place(lane, spot[0].s3_uri, rate=3.0, expected=Expected(hours, 3.0))
    deadline = 13.0
    limits = Limits(
        30 * 3600,
        max_wait_s=31 * 3600,
        patience_s=1800,
        saved_every_s=900,
        end_by=begin + deadline * HOUR,
        envelope=60.0,
    )
    task = Task(0, "key", "paris@1", {}, (*spot, dear), limits)
    world = World(clock.now, clock.sleep, lambda: False, lambda low, high: (low + high) / 2)
    runners = partial(make_runner, clients=Clients())

    assert Driver(TaskHistory(task, 1, staged.control), runners, world).drive() is Exit.DONE

    found = staged.control.result(0)
    assert found
    result, attempts = found[0], staged.control.attempts(0)
    regions = [one.lane.region for one in attempts]
    assert regions[0] == regions[-1] == REGIONS[0]
    assert REGIONS[1] in regions
    assert {one.lane.purchase for one in attempts} == {Purchase.SPOT}
    # In time, done once, and no two at a time.
    ends = [one.ended_at or 0.0 for one in result.outcomes]
    assert ends[-1] <= begin + deadline * HOUR
    assert [one.state for one in result.outcomes].count(TaskState.DONE) == 1
    assert all(one.recorded_at >= end for one, end in zip(attempts[1:], ends, strict=False))
    # Whoever came to another Region went on from what had been brought there.
    went_on = [int(words.split()[-1]) for words in (shared / "went-on").read_text().splitlines()]
    assert len(went_on) >= 2
    assert went_on == sorted(went_on)
    assert all(0 < step < STEPS for step in went_on)
    moved = [one.moved_usd for one in result.outcomes if one.moved_usd]
    assert len(moved) == sum(here != there for here, there in pairwise(regions))
    # What it costs at these prices is what the simulator says, with the same policy.
    zones = tuple(
        Zone(region, tuple(tick == "1" for tick in ticks), (1.0,) * len(ticks)) for region, ticks in OPEN.items()
    )
    trace = Trace(zones, tick_hours=TICK_HOURS, on_demand_usd_per_hour=3.0)
    simulated = simulate(trace, Job(hours, deadline, restart=0.1, checkpoint=0.25, copy_usd=moved[0]), Ours)
    cost = sum(one.seconds for one in result.outcomes) / HOUR + sum(moved)
    assert cost == pytest.approx(simulated.usd, rel=0.15)
    assert result.usd <= 60.0
