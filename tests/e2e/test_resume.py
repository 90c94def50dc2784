"""A training that is taken away goes on from its checkpoint, and ends where it would have ended anyway.

The scripts save and report by `orchestrator`'s helpers, which travel with them; the trainings are real processes of the
local cloud, the launchers real Batch children.
"""

from __future__ import annotations

import importlib.util
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator import read

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from orchestrator import Run
    from orchestrator.api import TaskRow
    from orchestrator.localcloud import LocalCloud
    from tests.fixtures.team import Team

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

STEPS = 40
HOLD = """
import os, time

STEPS = {steps}


def hold(step):
    '''Nearly stand still once a third is done, until the test lets the training go on.'''
    if step > STEPS // 3 and not os.path.exists({gate!r}):
        time.sleep(2)


"""

SINGLE = """
import json, random
from orchestrator import Checkpoints, report

chance = random.Random(7)
slope, offset = 0.0, 0.0
points = [(x / 50, 2 * x / 50 - 1 + chance.gauss(0, 0.1)) for x in range(100)]


def save(path):
    path.write_text(json.dumps([slope, offset, chance.getstate()]))


def load(path):
    global slope, offset
    slope, offset, (version, state, gauss) = json.loads(path.read_text())
    chance.setstate((version, tuple(state), gauss))


for step in Checkpoints(save, load).steps(STEPS):
    for x, y in chance.sample(points, 10):  # so that where chance stands matters, too
        error = slope * x + offset - y
        slope, offset = slope - 0.05 * error * x, offset - 0.05 * error
    report(step=step + 1, loss=sum((slope * x + offset - y) ** 2 for x, y in points) / len(points))
    hold(step)
"""

MPI = """
import os
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np
from mpi4py import MPI
from orchestrator import Checkpoints, report

world = MPI.COMM_WORLD
chance = np.random.default_rng([7, 0])
x = chance.standard_normal((256, 8))
y = x @ np.arange(8) + chance.normal(0, 0.1, 256)
weights = np.zeros(8)


def save(path):
    with path.open("wb") as file:
        np.save(file, weights)


def load(path):
    weights[:] = np.load(path)


for step in Checkpoints(save, load).steps(STEPS):
    mine = np.random.default_rng([7, step]).permutation(len(x))[:32][world.rank :: world.size]
    gradient = x[mine].T @ (x[mine] @ weights - y[mine]) / 32
    world.Allreduce(MPI.IN_PLACE, gradient)
    weights -= 0.1 * gradient
    report(step=step + 1, loss=np.mean((x @ weights - y) ** 2))
    hold(step)
assert len({each.tobytes() for each in world.allgather(weights)}) == 1, "ranks differ"
"""

TORCHRUN = """
import gc
import torch
import torch.distributed as dist
from orchestrator import Checkpoints, report

# DistributedDataParallel and torch.optim each take a second to import; the demo's own script is tested with them.
dist.init_process_group("gloo")
torch.set_num_threads(1)
torch.manual_seed(7)
x = torch.randn(256, 8)
y = x @ torch.arange(8.0)[:, None]
model = torch.nn.Linear(8, 1)
velocity = [torch.zeros_like(weights) for weights in model.parameters()]


def save(path):
    torch.save({"model": model.state_dict(), "velocity": velocity}, path)


def load(path):
    state = torch.load(path)
    model.load_state_dict(state["model"])
    velocity[:] = state["velocity"]


for step in Checkpoints(save, load).steps(STEPS):
    mine = torch.randperm(256, generator=torch.Generator().manual_seed(step))[:32][dist.get_rank() :: 2]
    model.zero_grad()
    torch.nn.functional.mse_loss(model(x[mine]), y[mine]).backward()
    with torch.no_grad():
        for weights, pace in zip(model.parameters(), velocity):
            dist.all_reduce(weights.grad)
            pace.mul_(0.9).add_(weights.grad / 2)
            weights -= 0.1 * pace
        report(step=step + 1, loss=torch.nn.functional.mse_loss(model(x), y))
    hold(step)
del model, velocity, weights, pace
gc.collect()
dist.barrier()
"""

WITHOUT_TORCH = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="`make torch` installs PyTorch")
SCRIPTS = {"single": SINGLE, "mpi": MPI, "torchrun": TORCHRUN}
MPI_TOO = pytest.param("mpi", marks=pytest.mark.long)
TORCHRUN_TOO = pytest.param("torchrun", marks=[WITHOUT_TORCH, pytest.mark.long])

SWEEP = """
name: {name}
data: {{campaigns: [alps]}}
train:
  source: learning
  entry_point: learn.py
  image: "{{account}}.dkr.ecr.{{region}}.amazonaws.com/learn:1"
  parallel: {parallel}
  {processes}
  metrics: [loss]
  checkpoints: {{every: 1s}}
objective: {{minimize: loss}}
where:
  instance_types: [ml.c5.xlarge]
  purchases: [spot]
runtime: 0.01
timeout: 10m
"""


@dataclass
class Desk:
    """One sweep of one task, run as often as wanted."""

    team: Team
    cloud: LocalCloud
    client: Callable[..., Any]
    name: str

    @property
    def gate(self) -> Path:
        """Once it is there, trainings go on as fast as they can."""
        return self.team.folder / "gate"

    def write(self, script: str, parallel: str) -> None:
        folder = self.team.folder / "learning"
        folder.mkdir()
        (folder / "learn.py").write_text(HOLD.format(steps=STEPS, gate=str(self.gate)) + script)
        processes = "" if parallel == "single" else "processes_per_instance: 2"
        sweep = SWEEP.format(name=self.name, parallel=parallel, processes=processes)
        (self.team.folder / "learn.yaml").write_text(sweep)

    def submit(self, suffix: str) -> Run:
        orchestrator = self.team.orchestrator()
        plan = orchestrator.plan(read(self.team.folder / "learn.yaml"))
        return orchestrator.submit(plan, name=f"{self.name}-{suffix}")

    def undisturbed(self, parallel: str) -> TaskRow:
        """The end of the same training when nothing happens to it."""
        if parallel not in UNDISTURBED:
            UNDISTURBED[parallel] = end(self.submit("a"))
        return UNDISTURBED[parallel]

    def wait_for_step(self, run: Run, step: int) -> None:
        """Until the training has told of so many steps, and a checkpoint is in S3."""
        self.wait_for_line(run, f"[sweep] step={step} ")
        while not self.saved(run):
            time.sleep(0.2)

    def wait_for_line(self, run: Run, words: str) -> None:
        deadline = time.monotonic() + 120
        while not any(words in line for line in log(run)):
            assert time.monotonic() < deadline, "\n".join(log(run)[-30:])
            time.sleep(0.4)
            run.sync()

    def saved(self, run: Run) -> list[str]:
        prefix = f"runs/{run.name}/checkpoints/0/"
        listed = self.client("s3", "us-east-1").list_objects_v2(Bucket="sweep-local-us-east-1", Prefix=prefix)
        return [item["Key"] for item in listed.get("Contents", []) if item["Key"].endswith("label.json")]


UNDISTURBED: dict[str, TaskRow] = {}
"""How each kind of training ends when nothing happens to it: it ends so every time, so it is run once."""


@pytest.fixture
def desk(team: Team, cloud: LocalCloud, client: Callable[..., Any], name: str) -> Desk:
    return Desk(team, cloud, client, f"r-{name[-6:]}")


def end(run: Run) -> TaskRow:
    statuses = list(run.watch(every_s=0.3))
    assert statuses[-1].finished
    return run.with_curves(run.results())[0]


def log(run: Run) -> list[str]:
    return [line.text for line in run.logs()]


def goes_on_after(run: Run) -> int:
    said = [line.partition("goes on after step ")[2] for line in log(run) if "goes on after step" in line]
    assert len(said) == 1, said
    return int(said[0].partition(",")[0])


def whole(row: TaskRow) -> bool:
    """The curve has each step once."""
    return [step for step, _ in row.curves["loss"]] == list(range(1, STEPS + 1))


@pytest.mark.parametrize("parallel", ["single", MPI_TOO, TORCHRUN_TOO])
def test_a_reclaimed_spot_training_ends_with_the_same_loss(desk: Desk, parallel: str) -> None:
    desk.write(SCRIPTS[parallel], parallel)
    disturbed = desk.submit("b")
    desk.wait_for_step(disturbed, 10)
    desk.cloud.steering.add("reclaim", f"{disturbed.name}-0-1")
    desk.wait_for_line(disturbed, "goes on after step")
    desk.gate.touch()
    expected, found = desk.undisturbed(parallel), end(disturbed)
    assert (expected.state.value, found.state.value) == ("done", "done"), (expected.reason, found.reason)
    assert 0 < goes_on_after(disturbed) < STEPS
    assert found.metrics["loss"] == expected.metrics["loss"] < found.curves["loss"][0][1] / 2
    assert found.curves == expected.curves
    assert whole(found)
    assert (found.attempt, found.purchase) == (1, "spot")


SAVED = "checkpoint: SIGTERM: step"


def cancelled_and_retried(desk: Desk, parallel: str) -> TaskRow:
    """The end of a training that was cancelled on the way, saved, and went on."""
    desk.write(SCRIPTS[parallel], parallel)
    disturbed = desk.submit("b")
    desk.wait_for_step(disturbed, 10)
    disturbed.cancel()
    stopped = end(disturbed)
    assert stopped.state.value == "cancelled", stopped.reason
    if parallel != "mpi":  # mpirun can lose a rank's last line
        desk.wait_for_line(disturbed, SAVED)
    desk.gate.touch()
    disturbed.retry()
    found = end(disturbed)
    assert (found.state.value, found.attempt) == ("done", 2), found.reason
    said = [line for line in log(disturbed) if SAVED in line]
    assert said or parallel == "mpi"
    assert all(f"step {goes_on_after(disturbed)} is saved" in line for line in said)
    assert whole(found)
    return found


@pytest.mark.parametrize("parallel", ["single", pytest.param("mpi", marks=pytest.mark.long), TORCHRUN_TOO])
def test_a_cancelled_training_saves_and_its_retry_goes_on(desk: Desk, parallel: str) -> None:
    found = cancelled_and_retried(desk, parallel)
    assert found.metrics["loss"] == desk.undisturbed(parallel).metrics["loss"]


@pytest.mark.long
@WITHOUT_TORCH
def test_a_cancelled_training_of_pytorch_does_too(desk: Desk) -> None:
    """What it costs to import PyTorch once more, for the undisturbed training, is left to the test above."""
    curve = cancelled_and_retried(desk, "torchrun").curves["loss"]
    assert curve[-1][1] < curve[0][1] / 2


def test_a_run_s_curves_are_drawn(desk: Desk) -> None:
    desk.write(SINGLE, "single")
    desk.gate.touch()
    run = desk.submit("a")
    row = end(run)
    assert whole(row)
    assert run.draw([row], "svg").count(b"<polyline") > 3
