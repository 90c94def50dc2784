"""`sweep plan`: what would run where, for how much, by when. Needs no network and no credentials."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import render, values
from orchestrator.cli.options import AsJson
from orchestrator.cli.render import Column
from orchestrator.cli.session import Session

if TYPE_CHECKING:
    from orchestrator.api import Plan

SweepFile = Annotated[Path, typer.Argument(metavar="SWEEP.yaml", help="What to run.")]
Classic = Annotated[
    Path | None, typer.Option("--manifest", metavar="FILE", help="A classic JOBARRAY: lines of `region,s3_uri`.")
]


@dataclass(frozen=True)
class Line:
    """Tasks that go to one lane at one price."""

    region: str
    instance_type: str
    purchase: str
    tasks: int
    hours_each: float
    usd_each: float
    usd: float
    finished_h: float


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
    """The plan, a line for each lane and price."""
    lines: dict[tuple[object, ...], Line] = {}
    for share in made.shares:
        lane = share.places[0].lane
        key = (lane, share.hours, share.usd)
        tasks = share.count + (lines[key].tasks if key in lines else 0)
        lines[key] = Line(
            region=lane.region,
            instance_type=lane.instance_type,
            purchase=lane.purchase.value,
            tasks=tasks,
            hours_each=share.hours,
            usd_each=share.usd,
            usd=share.usd * tasks,
            finished_h=share.hours,
        )
    ordered = sorted(lines.values(), key=lambda line: (-line.usd, line.region, line.instance_type))
    return Summary(made.id, made.sweep.name, made.tasks, made.hours, made.usd, tuple(ordered), made.notes)


COLUMNS: tuple[Column[Line], ...] = (
    Column("region", lambda line: line.region, title="Region"),
    Column("instance_type", lambda line: line.instance_type),
    Column("purchase", lambda line: line.purchase),
    Column("tasks", lambda line: line.tasks, "{:,}".format, right=True),
    Column("hours_each", lambda line: line.hours_each, values.hours, title="each", right=True),
    Column("usd_each", lambda line: line.usd_each, values.money, title="$ each", right=True),
    Column("usd", lambda line: line.usd, values.money, title="$ total", right=True),
    Column(
        "finished_h", lambda line: line.finished_h, lambda value: f"+{values.hours(value)}", title="by when", right=True
    ),
)


def show(made: Plan, stream: IO[str]) -> None:
    """As a table; on stderr where stdout is for something else."""
    plan = summary(made)
    render.as_table(plan.lines, COLUMNS, stream)
    total = f"{values.plural(plan.tasks, 'task')}, {values.hours(plan.hours)} of machine time, {values.money(plan.usd)}"
    render.write(f"\nplan {plan.id} of {plan.sweep}: {total}\n", stream)
    for note in plan.notes:
        render.write(f"note: {note}\n", stream)
