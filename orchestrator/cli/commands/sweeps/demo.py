"""`sweep demo`: a whole sweep, on this machine."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import render
from orchestrator.cli.commands.runs import cost, results
from orchestrator.cli.commands.runs.cost import Invoice
from orchestrator.cli.commands.schedules import nights
from orchestrator.cli.commands.sweeps import plan
from orchestrator.cli.commands.sweeps.plan import Summary
from orchestrator.cli.commands.workloads import models
from orchestrator.cli.options import AsJson
from orchestrator.cli.views.follow import follow
from orchestrator.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.api import CostRow, NightRow, Plan, Promotion, Status, TaskRow


class Parallel(str, Enum):
    """The ways in which the demo's processes may start."""

    MPI = "mpi"
    TORCHRUN = "torchrun"


def demo(
    parallel: Annotated[
        Parallel, typer.Option(metavar="mpi|torchrun", help="How the processes of a training start.")
    ] = Parallel.MPI,
    platform: Annotated[
        str, typer.Option(metavar="NAME", help="Train on this platform, such as ec2, instead of SageMaker.")
    ] = "",
    nightly: Annotated[
        bool, typer.Option("--nightly", help="Three nights of one workload instead: see docs/nightly.md.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run a whole sweep on this machine.

    Over four Regions, with no account and no cost, in about a minute. Starts a local AWS, fills a catalog, plans,
    submits, trains for real, ranks the results, and shuts everything down.

    With --nightly, a schedule trains a workload again by itself, on what is new, for three nights of the local AWS's
    clock: data arrives, then nothing does, and then more makes a better model, which is promoted.

    Example: sweep demo --parallel torchrun
    """
    from orchestrator.demo.main import run_demo
    from orchestrator.demo.nights import run_nights

    if nightly and platform:
        raise UsageError("the nights train on SageMaker", hint="leave --platform or --nightly out")
    if nightly and as_json:
        seen = Nights()
        run_nights(CollectedNights(seen), parallel=parallel.value)
        render.as_json(seen)
    elif nightly:
        run_nights(PrintedNights(), parallel=parallel.value)
    elif as_json:
        report = Report()
        run_demo(CollectedOutput(report), parallel=parallel.value, platform=platform)
        render.as_json(report)
    else:
        run_demo(PrintedOutput(), parallel=parallel.value, platform=platform)


class PrintedOutput:
    """A DemoOutput that shows every step as its own command would."""

    def say(self, line: str) -> None:
        render.line(line)

    def plan(self, plan_: Plan) -> None:
        plan.show_plan(plan_, sys.stdout)

    def watch(self, statuses: Iterable[Status]) -> None:
        follow(statuses, sys.stderr)

    def results(self, rows: list[TaskRow]) -> None:
        results.show_results(rows)

    def cost(self, rows: list[CostRow]) -> None:
        cost.show_invoice(Invoice.of("demo", rows))


@dataclass
class Report:
    """What the demo did, as JSON shows it."""

    plan: Summary | None = None
    results: list[TaskRow] = field(default_factory=list)
    cost: Invoice | None = None


@dataclass
class CollectedOutput:
    """A DemoOutput that keeps everything for the end. What is for people only goes to stderr."""

    report: Report

    def say(self, line: str) -> None:
        render.say(line)

    def plan(self, plan_: Plan) -> None:
        self.report.plan = plan.summary(plan_)

    def watch(self, statuses: Iterable[Status]) -> None:
        follow(statuses, sys.stderr)

    def results(self, rows: list[TaskRow]) -> None:
        self.report.results = rows

    def cost(self, rows: list[CostRow]) -> None:
        self.report.cost = Invoice.of("demo", rows)


class PrintedNights:
    """A NightsOutput that shows what the commands of nights and models would."""

    def say(self, line: str) -> None:
        render.line(line)

    def nights(self, rows: list[NightRow]) -> None:
        render.as_table(rows, nights.COLUMNS)

    def champions(self, rows: list[Promotion]) -> None:
        render.as_table(rows, models.COLUMNS)


@dataclass
class Nights:
    """What became of the demo's nights, as JSON shows it, the newest first."""

    nights: list[NightRow] = field(default_factory=list)
    champions: list[Promotion] = field(default_factory=list)


@dataclass
class CollectedNights:
    """A NightsOutput that keeps everything for the end. What is for people only goes to stderr."""

    seen: Nights

    def say(self, line: str) -> None:
        render.say(line)

    def nights(self, rows: list[NightRow]) -> None:
        self.seen.nights = rows

    def champions(self, rows: list[Promotion]) -> None:
        self.seen.champions = rows
