"""`sweep logs`: what the trainings of a run wrote."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import render
from orchestrator.cli.options import AsJson, RunName, Tasks, task_numbers
from orchestrator.cli.session import open_run

if TYPE_CHECKING:
    from orchestrator.api import LogLine


def logs(
    context: typer.Context,
    run: RunName = None,
    task: Tasks = None,
    follow_on: Annotated[bool, typer.Option("--follow", "-f", help="Stay, and print what comes.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print what the trainings wrote. --json prints an object a line.

    A task whose training never started has no log: `sweep results` has the reason.

    Example: sweep logs nightly --task 3,7-9 -f
    """
    wanted = task_numbers(task)
    lines = open_run(context, run).logs(wanted, follow=follow_on)
    for line in lines:
        if as_json:
            render.as_json_line(line)
        else:
            text = render.printable(line.text) if render.is_terminal(sys.stdout) else line.text
            render.line(f"{_label(line)} {text}")


def _label(line: LogLine) -> str:
    return render.paint(f"[{line.task}]", TASK_COLOURS[line.task % len(TASK_COLOURS)], sys.stdout)


TASK_COLOURS = ("cyan", "green", "magenta", "yellow", "blue")
