"""The main job: what a team does with `sweep`, from its data to a leaderboard, through a whole AWS on this machine."""

from __future__ import annotations

import os
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Protocol

from orchestrator.api import Orchestrator, read_settings, read_sweep
from orchestrator.demo.driving import CAMPAIGNS
from orchestrator.demo.world import furnish
from orchestrator.errors import PartlyFailed, RunFailed, UsageError
from orchestrator.localcloud import LocalCloud

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from orchestrator.api import CostRow, Plan, Status, Sweep, TaskRow

HERE = Path(__file__).parent
REGIONS = ("us-east-1", "us-west-2", "eu-west-1", "eu-central-1")
STARTS = {"mpi": "mpirun starts 2 processes", "torchrun": "torchrun starts 2 processes of PyTorch"}
BEST = 10
NEEDS = {"mpi": ("mpi4py", "local", "demo"), "torchrun": ("torch", "torch", "torch")}
"""parallel → the module, the extra that brings it, and the target of make that installs that."""
NEXT = (
    "sweep init               writes a sweep.yaml of your own to start from",
    "sweep local up           keeps an AWS like this one running, to try the other commands on",
    "docs/real-account.md     says what an AWS account needs for the real thing",
)


class Show(Protocol):
    """Whoever looks on."""

    def say(self, line: str) -> None: ...

    def plan(self, plan: Plan) -> None: ...

    def watch(self, statuses: Iterable[Status]) -> None:
        """Take every status as it comes, to the end."""
        ...

    def results(self, rows: list[TaskRow]) -> None: ...

    def cost(self, rows: list[CostRow]) -> None: ...


def run_demo(show: Show, *, parallel: str = "mpi") -> None:
    """Whatever was started is stopped on the way out, whichever way that is."""
    sweep = wanted(parallel)
    with TemporaryDirectory(prefix="sweep-demo-") as folder:
        # Said only here: whoever interrupts at a word of ours finds a folder that knows how to go.
        show.say(f"Starting AWS on this machine: {', '.join(REGIONS)}")
        home = Path(folder)
        with LocalCloud(home=home / "aws", regions=REGIONS) as cloud, only(cloud.environment):
            settings = read_settings({"database": f"sqlite:///{home / 'sweep.db'}", "poll_s": 1.0}, folder=home)
            orchestrator = Orchestrator(settings)
            world = furnish(home, settings.region_bucket or "")
            orchestrator.catalog.load(world.catalog)
            size = f"{world.bytes / 1e6:.1f} MB, {world.replicas} replicas"
            show.say(f"{len(CAMPAIGNS)} driving campaigns ({size}) are in S3 and in the catalog\n")
            perform(orchestrator, sweep, show)
    for line in ("\nNext:", *NEXT):
        show.say(line)


def perform(orchestrator: Orchestrator, sweep: Sweep, show: Show) -> None:
    """Plan, submit, watch, rank, and account for."""
    plan = orchestrator.plan(sweep)
    show.plan(plan)
    run = orchestrator.submit(plan, name="demo")
    show.say(f"\nSubmitted one AWS Batch array of {plan.tasks}; in each training {STARTS[sweep.train.parallel]}")
    show.watch(run.watch(every_s=1.0))
    rows = run.results()
    show.say(f"\nThe best {BEST} of {len(rows)}:")
    show.results(rows[:BEST])
    show.say("\nWhat AWS would have billed:")
    show.cost(run.cost())
    judge(run.status(), rows)


def judge(status: Status, rows: list[TaskRow]) -> None:
    if status.state == "done":
        return
    error = PartlyFailed if status.state == "partly_failed" else RunFailed
    unfinished = [row for row in rows if row.reason] or rows
    raise error(f"{len(unfinished)} of {status.tasks} trainings did not end well", hint=unfinished[0].reason)


def wanted(parallel: str) -> Sweep:
    """The demo's sweep, its processes started in this way."""
    sweep = read_sweep(HERE / "sweep.yaml")
    module, extra, target = NEEDS[parallel]
    if find_spec(module) is None:
        hint = f"`make {target}` in a checkout, or pip install 'sweep-orchestrator[{extra}]'"
        raise UsageError(f"{parallel} needs {module}, which is not installed", hint=hint)
    if parallel == "mpi":
        return sweep
    train = sweep.train.model_copy(update={"parallel": parallel, "entry_point": "train_torch.py"})
    return sweep.model_copy(update={"train": train})


@contextmanager
def only(environment: Mapping[str, str]) -> Iterator[None]:
    """Speak to this AWS and to no other, whatever profile or keys the user has."""
    before = dict(os.environ)
    for name in before:
        if name.startswith(("AWS_", "SWEEP_")):
            del os.environ[name]
    os.environ.update(environment)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
