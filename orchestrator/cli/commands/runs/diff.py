"""`sweep diff`: what differs between two runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import render
from orchestrator.cli.complete import run_names
from orchestrator.cli.options import AsJson, NoSync
from orchestrator.cli.render import Column
from orchestrator.cli.session import open_run

if TYPE_CHECKING:
    from orchestrator.api import Difference


@dataclass(frozen=True)
class Differences:
    """What differs between two runs, as JSON shows it."""

    one: str
    other: str
    differences: list[Difference]


def diff(
    context: typer.Context,
    one: Annotated[str, typer.Argument(metavar="RUN", help="A run's name.", autocompletion=run_names)],
    other: Annotated[str, typer.Argument(metavar="RUN", help="Another run's name.", autocompletion=run_names)],
    no_sync: NoSync = False,
    as_json: AsJson = False,
) -> None:
    """Show what differs between two runs.

    That is what their sweep files say, their data, the files of their sources, their image, their cost and their best.

    Example: sweep diff nightly-1 nightly-2
    """
    from orchestrator.api import find_differences

    left, right = open_run(context, one, no_sync=no_sync), open_run(context, other, no_sync=no_sync)
    found = Differences(left.name, right.name, find_differences(left, right))
    if as_json:
        render.as_json(found)
    elif found.differences:
        render.as_table(found.differences, _columns(found))
    else:
        render.line(f"{found.one} and {found.other} are alike")


def _columns(found: Differences) -> tuple[Column[Difference], ...]:
    return (
        Column("what", lambda row: row.what),
        Column("one", lambda row: row.one, title=found.one),
        Column("other", lambda row: row.other, title=found.other),
    )
