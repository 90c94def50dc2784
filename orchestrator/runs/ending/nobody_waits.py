"""Tells of trainings, and of what they have left, that carry a run's tags why nobody waits for them.

What is written down in the control bucket decides, never a database. What another control bucket's run may have started
is not ours to judge.
"""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING, Protocol, TypeVar

from orchestrator.runs.written import anchor as anchors
from orchestrator.wire.names import valid_run_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.runs.cloud import Cloud
    from orchestrator.wire.result import Attempt

LATE_S = 900.0
"""Seconds for which a training of an ended task may still be about to end by itself."""


class Tagged(Protocol):
    """Something that carries the tags of a run."""

    @property
    def training(self) -> str: ...
    @property
    def region(self) -> str: ...
    @property
    def run(self) -> str: ...
    @property
    def task(self) -> int: ...
    @property
    def output(self) -> str: ...


Thing = TypeVar("Thing", bound=Tagged)


def judge(found: Sequence[Thing], cloud: Cloud) -> dict[Thing, str | None]:
    """Return for each why nobody waits for it; nothing if somebody does, None if it is not ours to say."""
    by_run: defaultdict[str, list[Thing]] = defaultdict(list)
    for one in found:
        by_run[one.run].append(one)
    judged: dict[Thing, str | None] = {}
    for run, its in by_run.items():
        there = valid_run_name(run) and anchors.find(cloud.s3, run) is not None
        for one in its:
            if not one.output.startswith(f"s3://{cloud.bucket_name(one.region)}/"):
                judged[one] = None
            else:
                judged[one] = _why_nobody_waits(one, cloud) if there else f"there is no run {run!r}"
    return judged


def _why_nobody_waits(one: Tagged, cloud: Cloud) -> str:
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


def _is(attempt: Attempt, one: Tagged) -> bool:
    return (attempt.training, attempt.lane.region) == (one.training, one.region)
