"""A scaling run of one training, by a team's Orchestrator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.runs.written import anchor as anchors
from orchestrator.scaling.figures import Timing
from orchestrator.scaling.steps import make_steps
from orchestrator.wire.result import TaskState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.orchestrator import Orchestrator
    from orchestrator.plan.plan import Plan
    from orchestrator.runs.run import Run
    from orchestrator.scaling.steps import Asked, Step
    from orchestrator.spec.sweep import Sweep


class Scaling:
    """Plans, begins and reads the runs that show what more instances are worth."""

    def __init__(self, orchestrator: Orchestrator) -> None:
        self._orchestrator = orchestrator

    def steps(self, sweep: Sweep, asked: Asked) -> list[Step]:
        """Return the runs to be made, or that are there already. Raise what `make_steps` raises."""
        return make_steps(sweep, asked, self._orchestrator.plan, self._find)

    def begin(self, step: Step) -> Run:
        """Begin one of the runs, or go on with it. Refused if its slots are taken now."""
        return self._orchestrator.submit(step.plan, name=step.run)

    def read(self, runs: Iterable[Run]) -> list[Timing]:
        """Return how long each training took that is done, and what it cost."""
        rows = [row for run in runs for row in run.results() if row.state is TaskState.DONE]
        return [Timing(row.instances, row.seconds, row.usd, row.attempt) for row in rows]

    def _find(self, name: str) -> Plan | None:
        there = anchors.find(self._orchestrator.cloud.s3, anchors.run_name(name))
        return there.plan if there else None
