"""What was read from the logs of a run afterwards, and is kept: metrics that its sweep file did not name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from orchestrator.wire.stored import VERSION, check_version, checked


@dataclass(frozen=True)
class KeptCurve:
    """A metric of one task, as its trainings up to this attempt have reported it."""

    attempt: int
    curve: str
    """Encoded, as in a result."""


@dataclass(frozen=True)
class KeptMetric:
    """A metric of a run's tasks."""

    regex: str
    """The regex by which it was found."""
    tasks: dict[int, KeptCurve] = field(default_factory=dict)


@dataclass(frozen=True)
class Measured:
    """All metrics that were kept, by name."""

    metrics: dict[str, KeptMetric] = field(default_factory=dict)

    def with_metrics(self, metrics: dict[str, KeptMetric]) -> Measured:
        """Return this with these metrics. One that is there already gives way."""
        return Measured(self.metrics | metrics)

    def of(self, task: int, attempt: int) -> dict[str, str]:
        """Return the curves of a task by metric, encoded; none of those that an earlier attempt has left."""
        found = {name: metric.tasks.get(task) for name, metric in self.metrics.items()}
        return {name: kept.curve for name, kept in found.items() if kept and kept.attempt == attempt}

    def to_json(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "metrics": {
                name: {
                    "regex": metric.regex,
                    "tasks": {str(task): [kept.attempt, kept.curve] for task, kept in metric.tasks.items()},
                }
                for name, metric in self.metrics.items()
            },
        }

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Measured:
        """Return what was stored. NewerVersion if a newer `sweep` has written it."""
        check_version(body, "measurement")
        return cls({name: _metric(metric) for name, metric in body["metrics"].items()})


def _metric(body: dict[str, Any]) -> KeptMetric:
    tasks = {int(task): checked(KeptCurve(attempt, curve)) for task, (attempt, curve) in body["tasks"].items()}
    return checked(KeptMetric(body["regex"], tasks))
