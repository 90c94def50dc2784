"""Finds trainings and arrays that carry our tags and belong to no live run, in any Region, and stops them when asked.

What is written down in the control bucket decides, never a database. A training of which the bucket does not prove that
nobody waits for it is left alone; so is one that another control bucket's run may have started.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orchestrator.aws.account.enabled_regions import enabled_regions
from orchestrator.errors import AccessError, CloudError
from orchestrator.platforms.registry import make_operating
from orchestrator.runs.ending.stray_arrays import StrayArray, find_arrays, queues
from orchestrator.runs.written import anchor as anchors
from orchestrator.wire.names import valid_run_name
from orchestrator.wire.result import Attempt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.aws.session import Clients
    from orchestrator.platforms.lives import Alive
    from orchestrator.platforms.operating import Operating
    from orchestrator.runs.cloud import Cloud
    from orchestrator.wire.task import Lane

log = logging.getLogger(__name__)

WORKERS = 8
"""Regions that are asked at once."""
LATE_S = 900.0
"""Seconds for which a training of an ended task may still be about to end by itself."""


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
    """Trainings with our tags, and arrays, whose runs are in no control bucket of ours: they are left alone."""
    arrays: list[StrayArray] = field(default_factory=list)
    """Array jobs that nobody waits for."""


def find_strays(cloud: Cloud, platforms: Mapping[str, bool], prices: Mapping[Lane, float], *, stop: bool) -> Search:
    """Return all trainings and arrays of ours that belong to no live run; with `stop`, ask each of them to stop.

    Of each platform it is said whether the settings train on it. On another one a sweep may have trained by its name,
    so it is looked at; that it may not be looked at is no news there.
    """
    found: list[Alive] = []
    unseen: dict[str, str] = {}
    looked: set[str] = set()
    known_regions, enabled = {cloud.account.region}, _enabled(cloud)
    for platform, is_used in platforms.items():
        operating = make_operating(platform)
        regions = [one for one in operating.regions(cloud.clients) if enabled is None or one in enabled]
        known_regions |= set(regions)
        with ThreadPoolExecutor(WORKERS) as pool:
            asked = {region: pool.submit(_alive, operating, cloud.clients, region) for region in regions}
        for region, answer in asked.items():
            try:
                found += answer.result()
                looked.add(region)
            except (CloudError, AccessError) as error:
                if is_used or not isinstance(error, AccessError):
                    unseen[region] = error.message
    judged = _judge(found, cloud)
    nobodys = {one: why for one, why in judged.items() if why}
    strays = [_stray(one, why, prices, stopped=stop and _stop(one, cloud)) for one, why in nobodys.items()]
    names, left_out = queues(cloud, known_regions)
    if left_out:
        unseen[cloud.account.region] = left_out
    arrays, of_others = find_arrays(cloud, names, stop=stop)
    return Search(strays, len(looked), unseen, of_others + sum(why is None for why in judged.values()), arrays)


def _enabled(cloud: Cloud) -> frozenset[str] | None:
    """Return the Regions that the account may use; None if it may not ask which: then all are tried."""
    try:
        return enabled_regions(cloud.clients, cloud.account.region)
    except AccessError as error:
        log.info("all Regions are asked: %s", error.message)
        return None


def _alive(operating: Operating, clients: Clients, region: str) -> list[Alive]:
    return list(operating.alive(clients, region))


def _judge(found: list[Alive], cloud: Cloud) -> dict[Alive, str | None]:
    """Return for each training why nobody waits for it; nothing if somebody does, None if it is not ours to say."""
    by_run: defaultdict[str, list[Alive]] = defaultdict(list)
    for one in found:
        by_run[one.run].append(one)
    judged: dict[Alive, str | None] = {}
    for run, its in by_run.items():
        there = valid_run_name(run) and anchors.find(cloud.s3, run) is not None
        for one in its:
            if not one.output.startswith(f"s3://{cloud.bucket_name(one.lane.region)}/"):
                judged[one] = None
            else:
                judged[one] = _why_nobody_waits(one, cloud) if there else f"there is no run {run!r}"
    return judged


def _why_nobody_waits(one: Alive, cloud: Cloud) -> str:
    """Return in words why no launcher will look at this training of a run again; nothing if one may."""
    control = cloud.control(one.run)
    attempts = control.attempts(one.task)
    mine = next((attempt for attempt in attempts if _is(attempt, one)), None)
    if mine is None:
        return f"no launcher of run {one.run!r} has recorded it"
    if mine.submission <= control.cancel_marker().ended:
        return f"run {one.run!r} was cancelled, and has ended"
    if attempts[-1].number > mine.number:
        return f"attempt {attempts[-1].number} of task {one.task} came after it"
    written = control.result(one.task)
    if written is None or not written[0].state.terminal or written[0].attempt < mine.number:
        return ""
    result = written[0]
    outcome = next((outcome for outcome in result.outcomes if outcome.number == mine.number), None)
    ended_at = outcome.ended_at if outcome and outcome.ended_at else mine.recorded_at
    if result.submission < control.fence().owner(one.task) or time.time() - ended_at < LATE_S:
        return ""
    return f"task {one.task} is {result.state.value}"


def _is(attempt: Attempt, one: Alive) -> bool:
    return (attempt.training, attempt.lane.region) == (one.training, one.lane.region)


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
    attempt = Attempt(one.task, one.attempt, 0, one.lane, one.training, "", 0, 0.0, 0.0, instances=one.instances)
    try:
        cloud.runner(one.lane.platform).stop(attempt)
    except (CloudError, AccessError) as error:
        log.warning("%s in %s: %s", one.training, one.lane.region, error.message)
        return False
    return True
