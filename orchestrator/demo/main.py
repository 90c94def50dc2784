"""The main job: what a team does with `sweep`, from its data to a leaderboard, through a whole AWS on this machine."""

from __future__ import annotations

import os
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Protocol

from orchestrator.api import Orchestrator, Settings, read_settings, read_sweep
from orchestrator.demo.driving import CAMPAIGNS
from orchestrator.demo.sample_data import create_sample_data, types_for_sale, write_settings
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
"""The module that each way to start processes needs, the extra that brings it, and the target of make for that."""
NEXT = (
    "sweep init               writes a sweep.yaml of your own to start from",
    "sweep local up           keeps an AWS like this one running, to try the other commands on",
    "docs/real-account.md     says what an AWS account needs for the real thing",
)


class DemoOutput(Protocol):
    """Receives the demo's steps as they come, to show them to a person or to collect them."""

    def say(self, line: str) -> None:
        """Show one line about what happens."""
        ...

    def plan(self, plan: Plan) -> None:
        """Show the plan, before it is submitted."""
        ...

    def watch(self, statuses: Iterable[Status]) -> None:
        """Show every status as it comes, and return after the last one: the run has ended then."""
        ...

    def results(self, rows: list[TaskRow]) -> None:
        """Show the best tasks, best first."""
        ...

    def cost(self, rows: list[CostRow]) -> None:
        """Show what the run would have cost on AWS."""
        ...


def run_demo(output: DemoOutput, *, parallel: str = "mpi", platform: str = "") -> None:
    """Run the whole demo, on SageMaker or on another platform. Whatever it started is stopped when it ends.

    Raise UsageError if what it needs is not installed, RunFailed or PartlyFailed if trainings failed.
    """
    sweep = read_demo_sweep(parallel)
    if platform:
        where = {"platforms": [platform], "instance_types": types_for_sale(platform)}
        sweep = sweep.model_copy(update={"where": sweep.where.model_copy(update=where)})
    with TemporaryDirectory(prefix="sweep-demo-") as folder:
        # Only now is something shown: whoever interrupts when they see it leaves no folder behind.
        output.say(f"Starting AWS on this machine: {', '.join(REGIONS)}")
        home = Path(folder)
        with LocalCloud(home=home / "aws", regions=REGIONS) as cloud, only_environment(cloud.environment):
            write_settings(home, platform)
            settings = read_settings({"database": f"sqlite:///{home / 'sweep.db'}", "poll_s": 1.0}, folder=home)
            orchestrator = Orchestrator(settings)
            data = create_sample_data(home, settings.region_bucket or "", platform)
            orchestrator.catalog.load(data.catalog)
            size = f"{data.bytes / 1e6:.1f} MB, {data.replicas} replicas"
            output.say(f"{len(CAMPAIGNS)} driving campaigns ({size}) are in S3 and in the catalog\n")
            run_sweep(orchestrator, sweep, output)
    for line in ("\nNext:", *NEXT):
        output.say(line)


def run_sweep(orchestrator: Orchestrator, sweep: Sweep, output: DemoOutput) -> None:
    """Plan and submit the sweep, watch it to its end, and show its results and its cost."""
    plan = orchestrator.plan(sweep)
    output.plan(plan)
    run = orchestrator.submit(plan, name="demo")
    output.say(f"\nSubmitted one AWS Batch array of {plan.tasks}; in each training {STARTS[sweep.train.parallel]}")
    output.watch(run.watch(every_s=1.0))
    rows = run.results()
    output.say(f"\nThe best {BEST} of {len(rows)}:")
    output.results(rows[:BEST])
    output.say("\nWhat AWS would have billed:")
    output.cost(run.cost())
    raise_unless_done(run.status(), rows)


def raise_unless_done(status: Status, rows: list[TaskRow]) -> None:
    """Raise RunFailed or PartlyFailed, with a task's reason, if the run is not done."""
    if status.state == "done":
        return
    error = PartlyFailed if status.state == "partly_failed" else RunFailed
    unfinished = [row for row in rows if row.reason] or rows
    raise error(f"{len(unfinished)} of {status.tasks} trainings did not end well", hint=unfinished[0].reason)


def read_demo_sweep(parallel: str, name: str = "sweep.yaml") -> Sweep:
    """Return a sweep of the demo, its processes started in this way. Raise UsageError if that needs what is missing."""
    sweep = read_sweep(HERE / name, Settings())
    module, extra, target = NEEDS[parallel]
    if find_spec(module) is None:
        hint = f"`make {target}` in a checkout, or pip install 'sweep-orchestrator[{extra}]'"
        raise UsageError(f"{parallel} needs {module}, which is not installed", hint=hint)
    if parallel == "mpi":
        return sweep
    train = sweep.train.model_copy(update={"parallel": parallel, "entry_point": "train_torch.py"})
    return sweep.model_copy(update={"train": train})


@contextmanager
def only_environment(environment: Mapping[str, str]) -> Iterator[None]:
    """Let these variables alone say which AWS is spoken to, whatever profile or keys the user has."""
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
