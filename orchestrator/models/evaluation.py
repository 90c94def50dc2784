"""Tells on which data a model was measured: that of a fixed channel, as it lies there, or a part of its own dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.models.data_mark import list_unchanged
from orchestrator.models.promotion import Evaluation
from orchestrator.spec.by_region import in_region
from orchestrator.wire.beside.lineage import mark_objects
from orchestrator.wire.names import S3Uri

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients
    from orchestrator.runs.views.tasks import TaskRow
    from orchestrator.spec.sweep import Sweep


def evaluation_of(row: TaskRow, sweep: Sweep, data_mark: str, began_at: float | None, clients: Clients) -> Evaluation:
    """Return the data that a task was measured on.

    Where the sweep names a channel for it, its objects are listed. Data that has changed since the training began has
    no mark: nobody can tell what was there. `data_mark` is that of the task's own dataset.
    """
    channel = sweep.promote.evaluation if sweep.promote else None
    if channel is None:
        return Evaluation("", row.dataset, data_mark)
    uri = in_region(sweep.train.channels[channel], row.region)
    return Evaluation(channel, uri, _mark(S3Uri.parse(uri), row.region, began_at, clients))


def _mark(uri: S3Uri, region: str, began_at: float | None, clients: Clients) -> str:
    found = list_unchanged(uri, region, began_at, clients)
    if found is None:
        return ""
    return mark_objects((item.key.removeprefix(uri.key), item.size, item.etag) for item in found)
