"""The watch over a running training, which may be ended though it has not failed: it is silent, or its loss is NaN.

Both are off unless the sweep asks for them. Time counts from this launcher's first look: whoever restarts waits anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.wire.result import TaskState

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.launcher.watching.metrics_reader import MetricsReader
    from orchestrator.wire.result import Outcome
    from orchestrator.wire.task import Limits


SILENT_S = 900.0
"""Seconds without a line after which a running training is called silent, whether or not that ends it."""


class Watchdog:
    """Watches the trainings of one task. Ask it only when a training's log has just been read."""

    def __init__(self, limits: Limits, now: Callable[[], float]) -> None:
        self._limits = limits
        self._now = now
        self._heard: dict[str, tuple[int, float]] = {}
        """A count of what was heard of each training, and when it last grew."""

    def why_end(self, outcome: Outcome, reader: MetricsReader) -> str:
        """Return in words why a training is to be ended; nothing if it is to go on."""
        if outcome.state is not TaskState.RUNNING:
            return ""
        if self._limits.end_on_nan in reader.not_finite:
            return f"ended because its {self._limits.end_on_nan} was no finite number"
        heard, now = reader.heard(outcome.training), self._now()
        before, since = self._heard.get(outcome.training, (-1, now))
        if heard != before:
            self._heard[outcome.training] = (heard, now)
        elif self._limits.stall_s and now - since >= self._limits.stall_s:
            return f"ended because its log was silent for {(now - since) / 60:.0f} minutes"
        return ""

    def silent_since(self, outcome: Outcome) -> float | None:
        """Return since when a running training has been silent, if that is long. Ask after `why_end`."""
        _, since = self._heard.get(outcome.training, (0, self._now()))
        is_silent = outcome.state is TaskState.RUNNING and self._now() - since >= SILENT_S
        return since if is_silent else None
