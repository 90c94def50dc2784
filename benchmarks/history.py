"""A year of spot prices in 30 Regions, four times a day, compacted every second month: how large is the catalog then?

The prices are drawn by a seed: from one reading to the next, six of ten have changed.
"""

from __future__ import annotations

import random
import sqlite3
import sys
import tempfile
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.feeds import REGIONS, TYPES
from benchmarks.figure import Figure, run
from orchestrator.api import Orchestrator, Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

BEGINS = datetime(2025, 11, 3, tzinfo=timezone.utc)
YEAR, BETWEEN, READING = timedelta(days=365), timedelta(days=61), timedelta(hours=6)
CHANGES = 0.6
SEED = 7


def measure() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        used = run([sys.executable, "-m", "benchmarks.history", Path(folder) / "catalog.db"])
        megabytes, observed, kept, seconds = used.output.split()
        lanes = f"30 Regions x {len(TYPES)} types"
        yield Figure(
            f"history, a year of {lanes}", float(megabytes), "MB", budget=200, rival=f"{kept} of {observed} rows"
        )
        yield Figure("history, the longest compaction", float(seconds), "s CPU")


def main(database: str) -> None:
    """Fill this catalog and compact it. Print its megabytes, rows observed, rows kept, and the longest compaction."""
    import time

    orchestrator = Orchestrator(Settings(database=f"sqlite:///{database}"))
    file = Path(orchestrator.catalog.engine.url.database or "")
    observed, longest = 0, 0.0
    begins = BEGINS
    while begins < BEGINS + YEAR:
        ends = min(begins + BETWEEN, BEGINS + YEAR)
        observed += _observe(file, begins, ends)
        before = time.process_time()
        done = orchestrator.catalog.compact(ends)
        longest = max(longest, time.process_time() - before)
        begins = ends
    print(f"{file.stat().st_size / 1e6:.0f} {observed:,} {done.kept:,} {longest:.0f}")


def _observe(file: Path, begins: datetime, ends: datetime) -> int:
    """Add what feeds would have read between two moments, and return how many rows that is."""
    connection = sqlite3.connect(file)
    columns = "instance_type, region, purchase, platform, observed_at, usd_per_hour, source"
    with connection:
        added = connection.executemany(
            f"INSERT INTO prices ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", _rows(begins, ends)
        )
    connection.close()
    return added.rowcount


def _rows(begins: datetime, ends: datetime) -> Iterator[tuple[Any, ...]]:
    draw = random.Random(f"{SEED} {begins}")
    moments = [begins + READING * number for number in range((ends - begins) // READING)]
    written = [moment.strftime("%Y-%m-%d %H:%M:%S.000000") for moment in moments]
    for instance_type in sorted(TYPES):
        for region in sorted(REGIONS):
            usd = 0.2 + draw.random()
            for moment in written:
                if draw.random() < CHANGES:
                    yield (
                        instance_type,
                        region,
                        "spot",
                        "ec2",
                        moment,
                        round(usd + draw.random() / 10, 4),
                        "ec2-spot-prices",
                    )


if __name__ == "__main__":
    main(sys.argv[1])
