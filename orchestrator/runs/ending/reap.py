"""Finds what carries our tags and belongs to no live run, in any Region: trainings, arrays, leftovers.

When asked, trainings and arrays are stopped, and leftovers removed. `nobody_waits.py` says what is a stray.
"""

from __future__ import annotations

import logging
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orchestrator.aws.account.enabled_regions import enabled_regions
from orchestrator.errors import AccessError, CloudError
from orchestrator.platforms.account.leftover import LeavesBehind
from orchestrator.platforms.registry import make_operating
from orchestrator.runs.ending.nobody_waits import judge
from orchestrator.runs.ending.stray_arrays import StrayArray, find_arrays, queues
from orchestrator.runs.ending.stray_leftovers import StrayLeftover, judge_leftovers
from orchestrator.wire.result import Attempt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.account.leftover import Leftover
    from orchestrator.platforms.account.operating import Operating
    from orchestrator.platforms.lives import Alive
    from orchestrator.runs.cloud import Cloud
    from orchestrator.wire.task import Lane

log = logging.getLogger(__name__)

WORKERS = 8
"""Regions that are asked at once."""


@dataclass(frozen=True)
class Stray:
    """A training that nobody waits for."""

    training: str
    platform: str
    region: str
    instance_type: str
    purchase: str
    instances: int
    run: str
    task: int
    attempt: int
    why: str
    """Why nobody waits for it, in words."""
    seconds: float
    """Seconds that it has run."""
    usd: float | None
    """About what it has cost so far, at the catalog's price; None where the catalog knows none."""
    usd_per_hour: float | None
    stopped: bool = False
    """It was asked to stop just now."""


@dataclass(frozen=True)
class Search:
    """What was found, and where nobody could look."""

    strays: list[Stray]
    looked_in: int
    """Regions that have answered."""
    unseen: dict[str, str]
    """Regions that could not be asked, each with the reason."""
    others: int
    """What has our tags, and whose runs are in no control bucket of ours: it is left alone."""
    arrays: list[StrayArray] = field(default_factory=list)
    """Array jobs that nobody waits for."""
    leftovers: list[StrayLeftover] = field(default_factory=list)
    """What trainings have left that nobody waits for."""


def find_strays(cloud: Cloud, platforms: Mapping[str, bool], prices: Mapping[Lane, float], *, stop: bool) -> Search:
    """Return all that is ours and belongs to no live run; with `stop`, ask it to stop, and remove leftovers.

    Of each platform it is said whether the settings train on it. On another one a sweep may have trained by its name,
    so it is looked at; that it may not be looked at is no news there.
    """
    found: list[Alive] = []
    left: list[Leftover] = []
    unseen: dict[str, str] = {}
    looked: set[str] = set()
    known_regions, enabled = {cloud.account.region}, _enabled(cloud)
    for platform, is_used in platforms.items():
        operating = make_operating(platform)
        regions = [one for one in operating.regions(cloud.clients) if enabled is None or one in enabled]
        known_regions |= set(regions)
        with ThreadPoolExecutor(WORKERS) as pool:
            trainings = [(region, pool.submit(_alive, operating, cloud.clients, region)) for region in regions]
            things = [(region, pool.submit(_leftovers, operating, cloud.clients, region)) for region in regions]
        into: list[Any]
        for into, answers in ((found, trainings), (left, things)):
            for region, answer in answers:
                try:
                    into += answer.result()
                    if into is found:
                        looked.add(region)
                except (CloudError, AccessError) as error:
                    if is_used or not isinstance(error, AccessError):
                        unseen[region] = error.message
    judged = judge(found, cloud)
    nobodys = {one: why for one, why in judged.items() if why}
    strays = [_stray(one, why, prices, stopped=stop and _stop(one, cloud)) for one, why in nobodys.items()]
    names, left_out = queues(cloud, known_regions)
    if left_out:
        unseen[cloud.account.region] = left_out
    arrays, of_others = find_arrays(cloud, names, stop=stop)
    # After their trainings: what these still use is none.
    leftovers, of_other_runs = judge_leftovers(left, cloud, remove=stop)
    others = sum(why is None for why in judged.values()) + of_others + of_other_runs
    return Search(strays, len(looked), unseen, others, arrays, leftovers)


def _enabled(cloud: Cloud) -> frozenset[str] | None:
    """Return the Regions that the account may use; None if it may not ask which: then all are tried."""
    try:
        return enabled_regions(cloud.clients, cloud.account.region)
    except AccessError as error:
        log.info("all Regions are asked: %s", error.message)
        return None


def _alive(operating: Operating, clients: Clients, region: str) -> list[Alive]:
    return list(operating.alive(clients, region))


def _leftovers(operating: Operating, clients: Clients, region: str) -> list[Leftover]:
    return list(operating.leftovers(clients, region)) if isinstance(operating, LeavesBehind) else []


def _stray(one: Alive, why: str, prices: Mapping[Lane, float], *, stopped: bool) -> Stray:
    seconds = max(time.time() - one.started_at, 0.0) if one.started_at else 0.0
    price = prices.get(one.lane)
    per_hour = None if price is None else price * one.instances
    return Stray(
        training=one.training,
        platform=one.lane.platform,
        region=one.lane.region,
        instance_type=one.lane.instance_type,
        purchase=one.lane.purchase.value,
        instances=one.instances,
        run=one.run,
        task=one.task,
        attempt=one.attempt,
        why=why,
        seconds=seconds,
        usd=None if per_hour is None else per_hour * seconds / 3600,
        usd_per_hour=per_hour,
        stopped=stopped,
    )


def _stop(one: Alive, cloud: Cloud) -> bool:
    """Ask a training to stop. Return False, with a warning, if it could not be asked."""
    known = (one.task, one.attempt, 0, one.lane, one.training, "", 0, 0.0, 0.0)
    attempt = Attempt(*known, instances=one.instances, output=one.output)
    try:
        cloud.runner(one.lane.platform).stop(attempt)
    except (CloudError, AccessError) as error:
        log.warning("%s in %s: %s", one.training, one.lane.region, error.message)
        return False
    return True
