"""What a run costs beside its trainings: launchers, data copies, and what it keeps in S3."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from math import fsum
from typing import TYPE_CHECKING

from sqlalchemy import select

from orchestrator.db.engine import reading
from orchestrator.db.tables import storage_prices
from orchestrator.errors import AccessError, CloudError
from orchestrator.plan.launcher_price import LAUNCHER_USD_PER_HOUR
from orchestrator.plan.tiers import tiered_usd

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy import Engine

    from orchestrator.aws.s3 import S3
    from orchestrator.plan.plan import Plan
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.rows import Known
    from orchestrator.runs.written.anchor import Anchor

    StoragePrices = Mapping[str, Sequence[tuple[float, float]]]

log = logging.getLogger(__name__)

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
    """Dollars by the prices of S3 Standard that the catalog knows, from the first tier on."""
    is_whole: bool
    """False if there is more, which was not counted."""
    unpriced: tuple[str, ...] = ()
    """The Regions of which no price is known. What lies there is in the bytes, and not in the dollars."""


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


def read_storage_prices(engine: Engine) -> StoragePrices:
    """Return what a GB costs in S3 for a month, as the catalog knows it: tiers (from GB, $/GB) by Region."""
    prices: dict[str, list[tuple[float, float]]] = {}
    with reading(engine) as connection:
        for region, start, usd in sorted(tuple(row) for row in connection.execute(select(storage_prices))):
            prices.setdefault(region, []).append((start, usd))
    return prices


def costs_beside(anchor: Anchor, known: Iterable[Known], cloud: Cloud | None, prices: StoragePrices) -> Beside:
    """Return what a run costs beside its trainings. Without a cloud, nobody looks at what it has stored."""
    hours = fsum(outcome.seconds for one in known for outcome in one.result.outcomes) / 3600
    copies = anchor.plan.copies
    return Beside(
        launcher_hours=hours,
        launchers_usd=hours * LAUNCHER_USD_PER_HOUR,
        copies=len(copies),
        copies_usd=fsum(copy.usd for copy in copies),
        stored=_stored(anchor, cloud, prices) if cloud else None,
    )


def _stored(anchor: Anchor, cloud: Cloud, prices: StoragePrices) -> Stored | None:
    """Count what lies under the run's prefix in its buckets. None, with a warning, if we may not look everywhere."""
    every = [cloud.s3, *(cloud.bucket(region) for region in sorted({region for _, region in anchor.plan.sites}))]
    objects, sizes, is_whole = 0, _copied_bytes(anchor.plan), True
    try:
        for bucket in {each.bucket: each for each in every}.values():
            count, its_bytes = _count(bucket, anchor.keys.prefix)
            objects += count
            sizes[bucket.region] += its_bytes
            is_whole = is_whole and count < MOST_LISTED
    except (CloudError, AccessError) as error:
        log.warning("what it keeps in S3 is not known: %s", error.message)
        return None
    usd = fsum(tiered_usd(size / GB, prices[region]) for region, size in sizes.items() if region in prices)
    unpriced = sorted(region for region, size in sizes.items() if size and region not in prices)
    return Stored(objects, sizes.total(), usd, is_whole, tuple(unpriced))


def _count(bucket: S3, prefix: str) -> tuple[int, int]:
    sizes = [item.size for item in islice(bucket.list(prefix), MOST_LISTED)]
    return len(sizes), sum(sizes)


def _copied_bytes(plan: Plan) -> Counter[str]:
    """Return the bytes of the run's data copies, by the Regions where they lie."""
    copied: Counter[str] = Counter()
    for copy in plan.copies:
        copied[copy.to_region] += plan.datasets[copy.dataset].bytes
    return copied
