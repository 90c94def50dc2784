"""Manifest lines a second, and that the memory they take does not grow; the rival writes each task by itself."""

from __future__ import annotations

import json
import resource
import time
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING

from benchmarks.figure import Figure
from orchestrator.wire import manifest
from orchestrator.wire.task import Lane, Limits, Place, Purchase, Scalar, Task

if TYPE_CHECKING:
    from collections.abc import Iterator

LINES = 200_000


def measure() -> Iterator[Figure]:
    some = list(islice(tasks(), 20_000))
    rate = max(lines_per_s(some) for _ in range(3))
    rival = plain_lines_per_s(some[:5_000])
    yield Figure(
        "manifest, lines a second of CPU",
        rate,
        "1/s",
        budget=200_000,
        at_least=True,
        rival=f"asdict + json.dumps {rival:,.0f}",
    )
    before = peak_mb()
    size = sum(len(line) for line, _ in manifest.write(islice(tasks(), LINES)))
    yield Figure(
        f"manifest of {LINES:,} lines, further memory",
        peak_mb() - before,
        "MB",
        budget=10,
        rival=f"{size / 1e6:.0f} MB written",
    )


def tasks() -> Iterator[Task]:
    """Cohorts of 500 neighbours that share their places, as a plan makes them."""
    number = 0
    while True:
        region = f"region-{number // 500 % 16}"
        lanes = [Lane("sagemaker", region, f"ml.g5.{size}xlarge", Purchase.SPOT) for size in (2, 4, 8)]
        places = tuple(Place(lane, f"s3://data-{region}/campaigns/berlin/v1/", 1.515) for lane in lanes)
        limits = Limits(max_runtime_s=7200, max_wait_s=9000, retries=2, envelope=12.5)
        for _ in range(500):
            point: dict[str, Scalar] = {"learning_rate": 0.001 * number, "batch_size": 64, "augment": True}
            yield Task(number, f"{number:012x}", "berlin@v1", point, places, limits)
            number += 1


def lines_per_s(some: list[Task]) -> float:
    start = time.process_time()
    count = sum(1 for _ in manifest.write(some))
    return count / (time.process_time() - start)


def plain_lines_per_s(some: list[Task]) -> float:
    start = time.process_time()
    for task in some:
        f"{task.places[0].lane.region},{task.places[0].s3_uri},{json.dumps(asdict(task))}\n".encode()
    return len(some) / (time.process_time() - start)


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
