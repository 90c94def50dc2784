"""Reads a task's metrics from its trainings' logs: at each look, what they have written since the last one."""

from __future__ import annotations

import logging
import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

from orchestrator.errors import SweepError
from orchestrator.wire.curve import MOST_METRICS, Curves

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from orchestrator.platforms.base import Runner
    from orchestrator.wire.result import Attempt
    from orchestrator.wire.template import Template

log = logging.getLogger(__name__)

MOST_LINES = 300_000
"""Lines that are read at one look: a log may be of any length, and a launcher has a task to drive."""


class MetricsReader:
    """Holds the curves of all attempts of a task together: each goes on from the checkpoint of the one before."""

    def __init__(self, known: Mapping[str, str]) -> None:
        """Begin with the curves that the task's result holds, encoded."""
        self._curves = Curves(known)
        self._seen: dict[str, dict[str, str]] = {}
        """What was seen of each training's log, as `Runner.logs` remembers it."""
        self._heard: Counter[str] = Counter()
        """Lines that were read of each training's log, and looks at which it could not be read."""

    @property
    def curves(self) -> dict[str, str]:
        """The curves by metric, encoded."""
        return self._curves.encoded()

    @property
    def not_finite(self) -> frozenset[str]:
        """Metrics whose newest value in the log that was read last is not finite."""
        return frozenset(self._curves.not_finite)

    @property
    def diverged(self) -> tuple[str, ...]:
        """Metrics of which NaN or infinity came last, whichever log it was in; not more than are kept of a task."""
        return tuple(sorted(self._curves.diverged)[:MOST_METRICS])

    def heard(self, training: str) -> int:
        """Return a number that stays the same while a training's log is silent: one that cannot be read may not be."""
        return self._heard[training]

    def newest_values(self, measured: Mapping[str, float]) -> dict[str, float]:
        """Return the newest value of each metric, without those that have diverged.

        What the platform itself has measured goes before what the log says.
        """
        known = {**self._curves.last, **measured}
        return {name: value for name, value in known.items() if name not in self._curves.diverged}

    def to_read(self, attempts: Iterable[Attempt], running: Attempt) -> list[Attempt]:
        """Return the attempts whose logs are to be read: the running one, and those before it that never were.

        Those before it may be another launcher's, which went before it could read the end of a log.
        """
        return [
            one
            for one in attempts
            if one.number == running.number or (one.number < running.number and one.training not in self._seen)
        ]

    def read(self, runner: Runner, attempt: Attempt, template: Template) -> SweepError | None:
        """Read what is new in a training's log. Return why it could not be read to its present end, if so.

        The task matters more: no error is raised.
        """
        if attempt.training not in self._seen:
            self._curves.begin_log()
        seen = self._seen.setdefault(attempt.training, {})
        regexes = {name: re.compile(regex) for name, regex in template.metrics.items()}
        try:
            lines = islice(runner.logs(attempt, template, seen, first_instance=True), MOST_LINES)
            self._curves.read((line for _, line in self._counted(attempt.training, lines)), regexes)
        except SweepError as error:
            self._heard[attempt.training] += 1
            log.warning("no metrics from the log of %s: %s", attempt.training, error)
            return error
        return None

    def _counted(self, training: str, lines: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        for line in lines:
            self._heard[training] += 1
            yield line
