"""`sweep demo`: the whole way, on this machine."""

from __future__ import annotations

import sys
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import follow, look, plan, render, results

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.api import CostRow, Plan, Status, TaskRow


class Parallel(str, Enum):
    MPI = "mpi"
    TORCHRUN = "torchrun"


def demo(
    parallel: Annotated[Parallel, typer.Option(help="How the trainings' processes start.")] = Parallel.MPI,
) -> None:
    """Run a whole sweep on this machine.

    Over four Regions, with no account and no cost, in about a minute. Starts a local AWS, fills a catalog, plans,
    submits, trains for real, ranks the results, and shuts everything down.

    Example: sweep demo --parallel torchrun
    """
    from orchestrator.demo.main import run_demo

    run_demo(Shown(), parallel=parallel.value)


class Shown:
    """Each step as its own command would show it: tables are data, all else is for the person watching."""

    def say(self, line: str) -> None:
        render.say(line)

    def plan(self, plan_: Plan) -> None:
        plan.show(plan_, sys.stdout)

    def watch(self, statuses: Iterable[Status]) -> None:
        follow.along(statuses, sys.stderr)

    def results(self, rows: list[TaskRow]) -> None:
        results.show(rows)

    def cost(self, rows: list[CostRow]) -> None:
        look.show_cost(rows)
