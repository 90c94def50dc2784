"""What trainings of no live run have left behind in their Regions, beside their results: removed when that is asked."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.errors import AccessError, CloudError
from orchestrator.platforms.account.leftover import LeavesBehind
from orchestrator.platforms.registry import make_operating
from orchestrator.runs.ending.nobody_waits import judge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.platforms.account.leftover import Leftover
    from orchestrator.runs.cloud import Cloud

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class StrayLeftover:
    """Something that a training has left behind, and that no live run will use or remove."""

    kind: str
    """What it is, such as `volume`."""
    id: str
    platform: str
    region: str
    training: str
    run: str
    why: str
    """Why nobody waits for its training, in words."""
    removed: bool = False
    """It was removed just now."""


def judge_leftovers(found: Sequence[Leftover], cloud: Cloud, *, remove: bool) -> tuple[list[StrayLeftover], int]:
    """Return which of these belong to no live run, and how many are of other control buckets' runs.

    With `remove`, they are removed.
    """
    judged = judge(found, cloud)
    strays = [
        StrayLeftover(
            kind=one.kind,
            id=one.id,
            platform=one.platform,
            region=one.region,
            training=one.training,
            run=one.run,
            why=why,
            removed=remove and _remove(one, cloud),
        )
        for one, why in judged.items()
        if why
    ]
    return strays, sum(why is None for why in judged.values())


def _remove(one: Leftover, cloud: Cloud) -> bool:
    """Remove a leftover. Return False, with a warning, if it could not be removed."""
    operating = make_operating(one.platform)
    if not isinstance(operating, LeavesBehind):
        return False
    try:
        operating.remove(cloud.clients, one)
    except (CloudError, AccessError) as error:
        log.warning("%s %s in %s: %s", one.kind, one.id, one.region, error.message)
        return False
    return True
