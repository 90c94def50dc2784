"""`sweep status` of 100,000 tasks, from the database: the whole command, as a process."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.figure import Figure, best
from orchestrator.db.database import Database
from orchestrator.plan.dataset import Dataset
from orchestrator.plan.plan import Plan, Share
from orchestrator.runs.cloud import Account
from orchestrator.runs.known.ledger import Ledger
from orchestrator.runs.known.rows import Known
from orchestrator.runs.written.anchor import Anchor
from orchestrator.runs.written.submission import everything
from orchestrator.spec.sweep import Sweep
from orchestrator.wire.result import Outcome, Result, TaskState
from orchestrator.wire.task import Lane, Limits, Place, Purchase

if TYPE_CHECKING:
    from collections.abc import Iterator

TASKS = 100_000
LANE = Lane("sagemaker", "us-east-1", "ml.g5.xlarge", Purchase.SPOT)


def measure() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/ledger.db"
        _fill(url)
        sweep = Path(sys.executable).parent / "sweep"
        usage = best([sweep, "--database", url, "status", "large", "--no-sync"], times=3)
    yield Figure(f"sweep status of {TASKS:,} tasks, from the database", usage.wall_s, "s", budget=2.0)


def _fill(url: str) -> None:
    """A run of which every other task is done."""
    ledger = Ledger(Database(url))
    anchor = Anchor("large", _plan(), "code", "benchmark", time.time())
    account = Account("us-east-1", "control", "data-{region}", "sweep", "sweep", "role", "benchmark", 30.0)
    ledger.remember(anchor, account)
    ledger.expect(anchor.name, everything(anchor.plan))
    outcome = Outcome(1, LANE, "training", TaskState.DONE, usd=0.01, metrics={"loss": 0.5})
    ledger.save(
        anchor.name,
        (
            Known(f'"{task}"', Result(task, "key", TaskState.DONE, outcomes=(outcome,)), TaskState.DONE)
            for task in range(0, TASKS, 2)
        ),
    )


def _plan() -> Plan:
    sweep = Sweep.model_validate(
        {
            "name": "large",
            "train": {"entry_point": "train.py", "source": ".", "image": "image"},
            "space": {"x": {"range": [1, TASKS], "step": 1}},
            "where": {"instance_types": [LANE.instance_type]},
            "runtime": 1.0,
        }
    )
    place = Place(LANE, "s3://data/one/", 1.0)
    share = Share(0, TASKS, 0, (place,), 1.0, 1.0, Limits(3600))
    return Plan(sweep, "market", (Dataset("one@1", 1),), (share,))
