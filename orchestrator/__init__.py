"""sweep: where should each of these trainings run, for the least money that still meets the deadline?

    from orchestrator import Orchestrator, read

    team = Orchestrator()
    plan = team.plan(read("sweep.yaml"))
    run = team.submit(plan)

In a training script, which may have no more of `sweep` than these two:

    from orchestrator import Checkpoints, report

Names are imported on first use (PEP 562): importing one room must not pull in the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator.api import Orchestrator as Orchestrator
    from orchestrator.errors import SweepError as SweepError
    from orchestrator.plan.plan import Plan as Plan
    from orchestrator.rules import read_sweep as read
    from orchestrator.runs.run import Run as Run
    from orchestrator.settings.settings import Settings as Settings
    from orchestrator.spec.sweep import Sweep as Sweep
    from orchestrator.training.checkpoint import Checkpoints as Checkpoints
    from orchestrator.training.report import report as report

_HOMES = {
    "Checkpoints": "orchestrator.training.checkpoint",
    "Orchestrator": "orchestrator.api",
    "Plan": "orchestrator.plan.plan",
    "Run": "orchestrator.runs.run",
    "Settings": "orchestrator.settings.settings",
    "Sweep": "orchestrator.spec.sweep",
    "SweepError": "orchestrator.errors",
    "read": "orchestrator.rules:read_sweep",
    "report": "orchestrator.training.report",
}

__all__ = ["Checkpoints", "Orchestrator", "Plan", "Run", "Settings", "Sweep", "SweepError", "read", "report"]


def __getattr__(name: str) -> Any:
    try:
        home = _HOMES[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    module, _, its_name = home.partition(":")
    return getattr(import_module(module), its_name or name)


def __dir__() -> list[str]:
    return __all__
