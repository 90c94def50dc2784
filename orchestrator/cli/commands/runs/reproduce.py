"""`sweep reproduce`: one task again, by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli import formatting, render
from orchestrator.cli.complete import run_names
from orchestrator.cli.options import AsJson
from orchestrator.cli.session import open_run


def reproduce(
    context: typer.Context,
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's name.", autocompletion=run_names)],
    task: Annotated[int, typer.Argument(metavar="TASK", help="The number of one of its tasks.", min=0)],
    to: Annotated[
        Path | None, typer.Option(metavar="FOLDER", show_default="RUN-TASK", help="The folder to make.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a sweep file that trains one task again, by itself.

    It has the task's point, its data's version, its lane, its image by digest, and the sources as they were then.

    Example: sweep reproduce nightly 7
    """
    opened = open_run(context, run)
    made = opened.reproduce(task, to or Path(f"{opened.name}-{task}"))
    if as_json:
        render.as_json(made)
        return
    image = f", image {made.image}" if made.image else ""
    render.line(f"{made.sweep}: task {task} of {opened.name}, {formatting.plural(made.files, 'source file')}{image}")
    render.say(f"`sweep plan {made.sweep}` plans it")
