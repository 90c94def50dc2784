"""Says in words that a run is paused, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.cli import render

if TYPE_CHECKING:
    from orchestrator.api import TaskRow


def after_pause(run: str) -> str:
    """Return what to do about a run that is paused."""
    return (
        f"after mending data or rights, `sweep retry {run}` goes on; mended code is a new `sweep submit`; "
        f"if only these tasks are wrong, `sweep retry {run} --task` runs others"
    )


def pause_line(run: str, paused: str) -> str:
    """Return one line that says why a run is paused, and what to do."""
    return f"{render.printable(paused)} ({after_pause(run)})"


def warn_of_pause(run: str, rows: list[TaskRow]) -> None:
    """Say on stderr that tasks were not begun, for their run was paused."""
    held = [row.reason for row in rows if row.held_back]
    if held:
        were = "task was" if len(held) == 1 else "tasks were"
        render.say(f"warning: {len(held):,} {were} not run; {pause_line(run, held[0])}")
