"""Warns of metrics that tasks should have and have not: the one that ranks them, and those that were looked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.cli import render

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.api import Objective, TaskRow


def warn_of_missing_metric(objective: Objective | None, rows: list[TaskRow]) -> None:
    """Say on stderr that finished tasks have no value of the objective: they are ranked by nothing."""
    done = [row for row in rows if row.state.value == "done"]
    if objective is None:
        return
    diverged = [row for row in done if row.score is None and objective.metric in row.not_finite]
    silent = [row for row in done if row.score is None and objective.metric not in row.not_finite]
    if diverged:
        whose = "all finished tasks have" if len(diverged) == len(done) else f"{len(diverged):,} finished tasks have"
        render.say(
            f"warning: {whose} NaN or infinity as their newest {objective.metric!r}, the metric that ranks them: it is"
            " left out (`sweep logs` shows what they wrote)"
        )
    if not silent:
        return
    whose = "none of the finished tasks has" if len(silent) == len(done) else f"{len(silent):,} finished tasks have no"
    hint = "`sweep logs` shows what they wrote, `sweep results --metric NAME=REGEX` finds it there"
    render.say(f"warning: {whose} {objective.metric!r}, the metric that ranks them ({hint})")


def warn_of_metric_read_anew(objective: Objective | None, names: Iterable[str]) -> None:
    """Say on stderr that the metric that ranks tasks is now what --metric finds, and not what the sweep file says."""
    if objective is not None and objective.metric in names:
        render.say(
            f"warning: --metric replaces {objective.metric!r}, the metric that ranks the tasks: their order and scores"
            " are by what this regex finds (another name leaves them as they are)"
        )


def warn_of_unfound_metrics(names: Iterable[str], rows: list[TaskRow]) -> None:
    """Say on stderr which of these metrics no task has: what was looked for stands in no log."""
    for name in names:
        if any(name in row.not_finite for row in rows) and not any(name in row.metrics for row in rows):
            render.say(f"warning: the logs have NaN or infinity as the newest {name!r}: it is left out")
        elif rows and not any(name in row.metrics for row in rows):
            render.say(f"warning: no log has {name!r} (`sweep logs --task {rows[0].task}` shows what a task wrote)")
