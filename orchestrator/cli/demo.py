"""`sweep demo`: the whole way, on this machine."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer


class Parallel(str, Enum):
    MPI = "mpi"
    TORCHRUN = "torchrun"


def demo(
    parallel: Annotated[Parallel, typer.Option(help="How the trainings' processes start.")] = Parallel.MPI,
) -> int:
    """Run a whole sweep on this machine.

    Over four Regions, with no account and no cost, in about a minute. Starts a local AWS, fills a catalog, plans,
    submits, trains for real, ranks the results, and shuts everything down.

    Example: sweep demo --parallel torchrun
    """
    from orchestrator.demo.main import run_demo

    return run_demo(parallel=parallel.value)
