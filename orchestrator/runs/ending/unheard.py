"""What a training has reported whose launcher had died: its log is read when its end is written down."""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.errors import SweepError
from orchestrator.wire.curve import Curves

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.runs.cloud import Cloud
    from orchestrator.wire.result import Attempt, Outcome

log = logging.getLogger(__name__)


def hear(
    attempt: Attempt, outcome: Outcome, known: Mapping[str, str], run: str, cloud: Cloud
) -> tuple[Outcome, dict[str, str]]:
    """Return the outcome with the metrics that its training's log tells, and the task's curves with them.

    `known` are the curves that the dead launcher has left. A log that cannot be read changes nothing.
    """
    curves = Curves(known)
    curves.begin_log()
    try:
        template = cloud.control(run).template(attempt.lane.platform, attempt.lane.region)
        regexes = {name: re.compile(regex) for name, regex in template.metrics.items()}
        lines = cloud.runner(attempt.lane.platform).logs(attempt, template, {}, first_instance=True)
        curves.read((text for _, text in lines), regexes)
    except SweepError as error:
        log.warning("no metrics from the log of %s: %s", attempt.training, error)
        return outcome, dict(known)
    reported = {name: value for name, value in curves.last.items() if name not in outcome.metrics}
    heard = replace(outcome, metrics=reported | outcome.metrics, not_finite=tuple(sorted(curves.diverged)))
    return heard, curves.encoded()
