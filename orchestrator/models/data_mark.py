"""Tells what a training read, as it lies there now: by a digest, unless it has changed since the training began."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from orchestrator.aws.s3 import S3
from orchestrator.errors import SweepError
from orchestrator.wire.beside.lineage import mark_objects
from orchestrator.wire.names import S3Uri

if TYPE_CHECKING:
    from orchestrator.aws.s3 import Listed
    from orchestrator.aws.session import Clients

log = logging.getLogger(__name__)


def mark_folder(address: str, region: str, began_at: float | None, clients: Clients) -> str:
    """Return the mark of a folder, which is that of nights; nothing if it is empty, or nobody can tell what it held."""
    uri = S3Uri.parse(address)
    found = [item for item in list_unchanged(uri, region, began_at, clients) or [] if not item.key.endswith("/")]
    if not found:
        return ""
    return mark_objects((item.key.removeprefix(uri.key), item.size, item.etag) for item in found)


def list_unchanged(uri: S3Uri, region: str, began_at: float | None, clients: Clients) -> list[Listed] | None:
    """Return what lies in a folder; None, with a warning, if that cannot be listed, or is newer than the training."""
    try:
        found = list(S3(clients, region, uri.bucket).list(uri.key))
    except SweepError as error:
        log.warning("what %s held is not known: %s", uri, error)
        return None
    newest = max((item.modified_at for item in found), default=0.0)
    if began_at is not None and newest > began_at:
        log.warning("%s has changed since the training began: what it held then is not known", uri)
        return None
    return found
