"""What a run costs beside its trainings: launchers, data copies, and what it keeps in S3."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from itertools import islice
from math import fsum
from typing import TYPE_CHECKING

from orchestrator.errors import AccessError, CloudError
from orchestrator.plan.launcher_price import LAUNCHER_USD_PER_HOUR

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.aws.s3 import S3
    from orchestrator.plan.plan import Plan
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.rows import Known
    from orchestrator.runs.written.anchor import Anchor

log = logging.getLogger(__name__)

USD_PER_GB_MONTH = 0.023
"""S3 Standard in us-east-1. It is up to twice as dear elsewhere."""
GB = 2**30
MOST_LISTED = 50_000
"""Objects of a bucket that are listed to be counted: fifty calls."""


@dataclass(frozen=True)
class Stored:
    """What a run keeps in S3 until somebody deletes it."""

    objects: int
    bytes: int
    """The size of its own objects, in all its buckets, and of the data copies that it has made."""
    usd_per_month: float
    """About, at the price of us-east-1."""
    is_whole: bool
    """False if there is more, which was not counted."""


@dataclass(frozen=True)
class Beside:
    """What a run costs beside its trainings. It is in no sum of theirs."""

    launcher_hours: float
    """Hours for which launchers have watched trainings that ran. They wait for instances, too: that is not in it."""
    launchers_usd: float
    copies: int
    copies_usd: float
    """Dollars for bringing data to other Regions, as planned."""
    stored: Stored | None
    """None if nobody has looked, or may look."""


def costs_beside(anchor: Anchor, known: Iterable[Known], cloud: Cloud | None) -> Beside:
    """Return what a run costs beside its trainings. Without a cloud, nobody looks at what it has stored."""
    hours = fsum(outcome.seconds for one in known for outcome in one.result.outcomes) / 3600
    copies = anchor.plan.copies
    return Beside(
        launcher_hours=hours,
        launchers_usd=hours * LAUNCHER_USD_PER_HOUR,
        copies=len(copies),
        copies_usd=fsum(copy.usd for copy in copies),
        stored=_stored(anchor, cloud) if cloud else None,
    )


def _stored(anchor: Anchor, cloud: Cloud) -> Stored | None:
    """Count what lies under the run's prefix in its buckets. None, with a warning, if we may not look everywhere."""
    buckets = [cloud.s3, *(cloud.bucket(region) for region in sorted({region for _, region in anchor.plan.sites}))]
    objects, size, is_whole = 0, _copied_bytes(anchor.plan), True
    try:
        for count, its_bytes in (_count(bucket, anchor.keys.prefix) for bucket in buckets):
            objects += count
            size += its_bytes
            is_whole = is_whole and count < MOST_LISTED
    except (CloudError, AccessError) as error:
        log.warning("what it keeps in S3 is not known: %s", error.message)
        return None
    return Stored(objects, size, size / GB * USD_PER_GB_MONTH, is_whole)


def _count(bucket: S3, prefix: str) -> tuple[int, int]:
    sizes = [item.size for item in islice(bucket.list(prefix), MOST_LISTED)]
    return len(sizes), sum(sizes)


def _copied_bytes(plan: Plan) -> int:
    return sum(plan.datasets[copy.dataset].bytes for copy in plan.copies)
