"""A task's metrics, read from its trainings' logs: what they have written since the last look."""

from __future__ import annotations

import logging
import re
from itertools import islice
from typing import TYPE_CHECKING

from orchestrator.errors import SweepError
from orchestrator.wire.curve import Curves

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from orchestrator.platforms.base import Handle, Platform
    from orchestrator.wire.result import Attempt

log = logging.getLogger(__name__)

MOST_LINES = 300_000
"""Of one look: a log may be of any length, and a launcher has a task to drive."""


class Learning:
    """All attempts together: one goes on from the other's checkpoint."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self._curves = Curves(known)
        self._after: dict[str, dict[str, str]] = {}

    @property
    def curves(self) -> dict[str, str]:
        return self._curves.encoded()

    def metrics(self, measured: Mapping[str, float]) -> dict[str, float]:
        """The newest values, with those that the platform itself has measured; none that has run away since."""
        known = {**self._curves.last, **measured}
        return {name: value for name, value in known.items() if name not in self._curves.diverged}

    def due(self, attempts: Iterable[Attempt], running: Attempt) -> list[Attempt]:
        """Whose logs are to be read: those before it that never were, of whatever launcher, and its own."""
        return [
            one
            for one in attempts
            if one.number == running.number or (one.number < running.number and one.training not in self._after)
        ]

    def look(self, platform: Platform, handle: Handle, metrics: Mapping[str, str]) -> None:
        """Metrics are worth a look, and nothing more: a log that cannot be read changes nothing."""
        if handle.training not in self._after:
            self._curves.begin()
        after = self._after.setdefault(handle.training, {})
        regexes = {name: re.compile(regex) for name, regex in metrics.items()}
        try:
            lines = islice(platform.logs(handle, after, first=True), MOST_LINES)
            self._curves.read((line for _, line in lines), regexes)
        except SweepError as error:
            log.warning("no metrics from the log of %s: %s", handle.training, error)
