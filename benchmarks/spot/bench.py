"""Spot under a deadline: what our policy costs beside its rivals and the least that is possible, and who is late.

With a folder of traces, on these; else on made-up ones.

python -m benchmarks.spot.bench FOLDER --work 48 --deadline 60 --restart 0.2
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from benchmarks.figure import Figure
from benchmarks.spot.optimum import least_usd
from benchmarks.spot.policies import Greedy, OnDemand, Ours, UniformProgress
from benchmarks.spot.simulate import Job, simulate
from benchmarks.spot.traces import make_trace, read_traces
from orchestrator.launcher.moving.saved import Saved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.spot.simulate import Policy
    from benchmarks.spot.traces import Trace

RIVALS: dict[str, Callable[[Trace, Job], Policy]] = {
    "uniform progress": UniformProgress,
    "greedy": Greedy,
    "on demand only": OnDemand,
}
USUAL = Job()
USD_PER_GB = 0.02
"""What AWS asks for a GB between most Regions."""
EVERY_HOURS = 30.0
"""Hours between the beginnings of two windows of a trace."""
BUDGET_USD = 72.5
"""What ours may cost a job of 48 h with a deadline of 60 h and a restart of 0.2 h, on the traces it was asked for."""


def measure(folder: Path | None = None, job: Job = USUAL) -> Iterator[Figure]:
    """Yield the figures on the traces of a folder, or on made-up ones."""
    if folder is None:
        job = Job(work=20.0, deadline=26.0)
        windows = [make_trace(seed, hours=job.deadline + 1) for seed in range(34)]
        yield from compare(windows, job, f"{len(windows)} made-up traces")
        return
    for where in sorted({file.parent for file in folder.rglob("*.json")}):
        windows = read_traces(where).windows(job.deadline, EVERY_HOURS)
        if not windows:
            raise ValueError(f"{where}: no window of {job.deadline:g} hours")
        budget = BUDGET_USD if job == USUAL else None
        yield from compare(windows, job, f"{where.name}, {len(windows)} windows", budget)


def compare(windows: Sequence[Trace], job: Job, what: str, budget: float | None = None) -> Iterator[Figure]:
    """Yield the mean cost of a job on these windows under our policy, beside the rivals', and how many were late."""
    ours = [simulate(window, job, Ours) for window in windows]
    rivals = {name: fmean(simulate(window, job, rival).usd for window in windows) for name, rival in RIVALS.items()}
    least = fmean(least_usd(window, job) for window in windows)
    said = ", ".join(f"{name} ${usd:.1f}" for name, usd in rivals.items())
    mean = fmean(one.usd for one in ours)
    yield Figure(f"spot on {what}: a job", mean, "$", budget, rival=f"at least ${least:.1f}; {said}")
    yield Figure("  above the least possible, all known beforehand", 100 * (mean / least - 1), "%")
    yield Figure("  deadlines missed", sum(not one.done for one in ours), "jobs", budget=0)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spot.bench")
    parser.add_argument("folder", nargs="?", type=Path, help="a folder of traces, or of such folders")
    for name, value in (("work", 48.0), ("deadline", 60.0), ("restart", 0.2), ("checkpoint", 0.0)):
        parser.add_argument(f"--{name}", type=float, default=value, help=f"hours, {value:g} unless said")
    parser.add_argument("--gb", type=float, default=0.0, help="size of a checkpoint, which other Regions get a copy of")
    asked = parser.parse_args()
    saved = Saved(region="here", gb=asked.gb, usd_per_gb=USD_PER_GB)
    copied = (saved.usd_to("there"), saved.hours_to("there"))
    for figure in measure(asked.folder, Job(asked.work, asked.deadline, asked.restart, asked.checkpoint, *copied)):
        print(figure, flush=True)


if __name__ == "__main__":
    main()
