"""Finished runs whose control bucket is in memory, to be held against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.models.models import Models
from orchestrator.runs.known.rows import Known
from orchestrator.runs.run import Run
from orchestrator.runs.written.anchor import create
from orchestrator.wire.result import Outcome, Result, TaskState
from tests.runs.bench import ACCOUNT, LANES, Desk, plan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MEASURED = {"train__metrics": ["loss", "recall"], "objective": {"minimize": "loss"}}


def finished(
    desk: Desk,
    name: str,
    losses: Sequence[float | None],
    further: Mapping[str, float] | None = None,
    state: TaskState = TaskState.DONE,
    **sweep: Any,
) -> Run:
    """A run whose tasks have ended with these losses, and each with these further metrics."""
    anchor = desk.anchor(plan(tasks=len(losses), **{"name": "steering", **MEASURED, **sweep}), name)
    create(desk.bucket, anchor)
    ledger = desk.ledger()
    ledger.remember(anchor, ACCOUNT)
    known = []
    for task, loss in enumerate(losses):
        metrics = {} if loss is None else {"loss": loss, **(further or {})}
        artifact = f"s3://data-us-east-1/runs/{name}/{task}/model.tar.gz" if state is TaskState.DONE else ""
        outcome = Outcome(1, LANES[0], f"{name}-{task}-1", state, metrics=metrics, artifact=artifact, usd=0.5)
        known.append(Known(f"etag-{task}", Result(task, "key", state, outcomes=(outcome,)), state))
    ledger.save(name, known)
    return Run(anchor, ledger, desk.cloud)


def models(desk: Desk, who: str = "ada") -> Models:
    return Models(desk.cloud(), who, lambda dataset, region: f"mark of {dataset} in {region}")
