"""Tells on which data a model was measured: that of a fixed channel, as it lies there, or a part of its own dataset."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from orchestrator.aws.s3 import S3
from orchestrator.errors import SweepError
from orchestrator.models.promotion import Evaluation
from orchestrator.spec.by_region import in_region
from orchestrator.wire.names import S3Uri, digest

if TYPE_CHECKING:
    from orchestrator.aws.session import Clients
    from orchestrator.runs.views.tasks import TaskRow
    from orchestrator.spec.sweep import Sweep

log = logging.getLogger(__name__)


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
    try:
        found = list(S3(clients, region, uri.bucket).list(uri.key))
    except SweepError as error:
        log.warning("on which data it was measured is not known: %s", error)
        return ""
    newest = max((item.modified_at for item in found), default=0.0)
    if began_at is not None and newest > began_at:
        log.warning("%s has changed since the training began: on which data it was measured is not known", uri)
        return ""
    return digest(sorted((item.key.removeprefix(uri.key), item.size, item.etag) for item in found), 32)
