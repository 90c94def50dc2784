"""`sweep plan`: what would run where, for how much, by when. Needs no network and no credentials."""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import fsum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import render, values
from orchestrator.cli.options import AsJson
from orchestrator.cli.render import Column
from orchestrator.cli.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from orchestrator.api import Lane, Plan, Share

SweepFile = Annotated[Path, typer.Argument(metavar="SWEEP.yaml", help="What to run.")]
Classic = Annotated[
    Path | None, typer.Option("--manifest", metavar="FILE", help="A classic JOBARRAY: lines of `region,s3_uri`.")
]


@dataclass(frozen=True)
class Line:
    """The tasks that go to one lane. They may differ in size, so each has its least and its most."""

    region: str
    instance_type: str
    purchase: str
    tasks: int
    hours_each: tuple[float, float]
    usd_each: tuple[float, float]
    usd: float
    finished_h: float
    """If all of them start now."""

    @classmethod
    def of(cls, lane: Lane, shares: Sequence[Share]) -> Line:
        hours = [share.hours for share in shares]
        usd = [share.usd for share in shares]
        return cls(
            region=lane.region,
            instance_type=lane.instance_type,
            purchase=lane.purchase.value,
            tasks=sum(share.count for share in shares),
            hours_each=(min(hours), max(hours)),
            usd_each=(min(usd), max(usd)),
            usd=fsum(share.usd * share.count for share in shares),
            finished_h=max(hours),
        )


@dataclass(frozen=True)
class Summary:
    """A plan, as it is shown before it is agreed to."""

    id: str
    sweep: str
    tasks: int
    hours: float
    usd: float
    lines: tuple[Line, ...]
    notes: tuple[str, ...]


def plan(
    context: typer.Context,
    sweep: SweepFile,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the plan here, for `sweep submit`.")
    ] = None,
    manifest: Classic = None,
    as_json: AsJson = False,
) -> None:
    """Show what would run where, for how much, by when.

    Reads the catalog only: no network, no credentials. The same sweep and catalog give the same plan.

    Example: sweep plan sweep.yaml -o plan.json
    """
    from orchestrator.api import read_sweep, write_plan

    made = Session.of(context).orchestrator.plan(read_sweep(sweep), classic=manifest)
    if output is not None:
        write_plan(made, output)
    if as_json:
        render.as_json(summary(made))
    else:
        show(made, sys.stdout)
    if output is not None:
        render.say(f"wrote {output}: `sweep submit {output}` runs exactly this")


def summary(made: Plan) -> Summary:
    """A line for each lane, the dearest first."""
    lanes: dict[Lane, list[Share]] = defaultdict(list)
    for share in made.shares:
        lanes[share.places[0].lane].append(share)
    lines = sorted((Line.of(lane, shares) for lane, shares in lanes.items()), key=lambda line: -line.usd)
    return Summary(made.id, made.sweep.name, made.tasks, made.hours, made.usd, tuple(lines), made.notes)


def _from_to(text: Callable[[float], str]) -> Callable[[tuple[float, float]], str]:
    """`15m`, or `15m-2h` where tasks differ."""
    return lambda ends: "-".join(dict.fromkeys(map(text, ends)))


def _by_when(hours: float) -> str:
    now = datetime.now()
    return values.clock(now + timedelta(hours=hours), now)


COLUMNS: tuple[Column[Line], ...] = (
    Column("region", lambda line: line.region, title="Region"),
    Column("instance_type", lambda line: line.instance_type),
    Column("purchase", lambda line: line.purchase),
    Column("tasks", lambda line: line.tasks, "{:,}".format, right=True),
    Column("hours_each", lambda line: line.hours_each, _from_to(values.hours), title="each", right=True),
    Column("usd_each", lambda line: line.usd_each, _from_to(values.money), title="$ each", right=True),
    Column("usd", lambda line: line.usd, values.money, title="$ total", right=True),
    Column("finished_h", lambda line: line.finished_h, _by_when, title="by when", right=True),
)


def show(made: Plan, stream: IO[str]) -> None:
    """As a table; on stderr where stdout is for something else."""
    plan = summary(made)
    render.as_table(plan.lines, COLUMNS, stream)
    total = f"{values.plural(plan.tasks, 'task')}, {values.hours(plan.hours)} of machine time, {values.money(plan.usd)}"
    render.write(f"\nplan {plan.id} of {plan.sweep}: {total}\n", stream)
    for note in plan.notes:
        render.write(f"note: {note}\n", stream)
