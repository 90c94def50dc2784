"""`sweep limit`: how many instances a run may hold at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from orchestrator.cli import render
from orchestrator.cli.options import AsJson, RunName
from orchestrator.cli.session import open_run
from orchestrator.cli.views.limit_words import EVERYTHING, limit_words
from orchestrator.cli.views.status import StatusView
from orchestrator.errors import UsageError


@dataclass(frozen=True)
class Limited:
    """The limit that is in force, as JSON shows it."""

    run: str
    most: int
    """Slots that tasks and quotas allow."""
    slots: dict[str, int]
    """Instances at once, by what is limited: a Region, a lane, or `all`. Empty if nothing is."""


def limit(
    context: typer.Context,
    run: RunName = None,
    slots: Annotated[
        list[str] | None,
        typer.Option(
            "--slots", metavar="N", help="So many instances at once; REGION=N or LANE=N of these. May be repeated."
        ),
    ] = None,
    off: Annotated[bool, typer.Option("--off", help="Lift the limit.")] = False,
    as_json: AsJson = False,
) -> None:
    """Change how many instances a run holds at once, while it runs; without options, show it.

    What has begun goes on. Nothing more begins until there is room; with --slots 0, until that is changed. What is not
    named is not limited. More slots than tasks and quotas allow are refused: exit code 6.

    Example: sweep limit nightly --slots 8 --slots eu-west-1=2
    """
    if off and slots:
        raise UsageError("--off lifts what --slots sets", hint="keep one of them")
    wanted = read_slots(slots or [])
    opened = open_run(context, run, documents=False)
    if off or wanted:
        opened.limit(wanted)
    held = StatusView.of(opened.status()).limit
    if as_json:
        render.as_json(Limited(opened.name, opened.most_slots, held))
    elif held:
        render.line(f"{opened.name}: {limit_words(held)}; tasks and quotas allow {opened.most_slots:,}")
    else:
        render.line(f"{opened.name}: not limited; tasks and quotas allow {opened.most_slots:,} slots")


def read_slots(texts: list[str]) -> dict[str, int]:
    """Return the instances that --slots gives, by what is limited. Raise UsageError for a text that gives none."""
    found: dict[str, int] = {}
    for text in texts:
        what, _, number = text.rpartition("=")
        what = "" if what == EVERYTHING else what
        if not number.isascii() or not number.isdecimal() or len(number) > 9:
            hint = "write 8, eu-west-1=2 or sagemaker/eu-west-1/ml.g5.xlarge/spot=2"
            raise UsageError(f"{text!r} is no limit", where="--slots", hint=hint)
        if what in found:
            raise UsageError(f"{what or 'everything'} is limited twice", where="--slots", hint="keep one of them")
        found[what] = int(number)
    return found
