"""Warns when finished tasks have no value of the metric that ranks them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.cli import render

if TYPE_CHECKING:
    from orchestrator.api import Objective, TaskRow


def warn_of_missing_metric(objective: Objective | None, rows: list[TaskRow]) -> None:
    """Say on stderr that finished tasks have no value of the objective: they are ranked by nothing."""
    done = [row for row in rows if row.state.value == "done"]
    silent = [row for row in done if row.score is None]
    if objective is None or not silent:
        return
    whose = "none of the finished tasks has" if len(silent) == len(done) else f"{len(silent):,} finished tasks have no"
    hint = "`sweep logs` shows what they wrote, `sweep results --metric NAME=REGEX` finds it there"
    render.say(f"warning: {whose} {objective.metric!r}, the metric that ranks them ({hint})")
