"""`sweep scale`: what more machines are worth, by one training on several numbers of them."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator import files
from orchestrator.cli import formatting, render
from orchestrator.cli.confirm import confirm
from orchestrator.cli.options import AsJson, Force, Yes
from orchestrator.cli.render import Column
from orchestrator.cli.session import Session
from orchestrator.cli.views.follow import follow_to_end
from orchestrator.cli.views.frontier import check_picture
from orchestrator.errors import PartlyFailed, Refused, RunFailed, UsageError

if TYPE_CHECKING:
    from orchestrator.api import Run, Scaling, ScalingRow, ScalingStep

MOST = 10_000
"""The most instances of one training."""
SweepFile = Annotated[Path, typer.Argument(metavar="SWEEP.yaml", help="The sweep to time a training of.")]


@dataclass(frozen=True)
class Scaled:
    """What was found, as JSON shows it."""

    runs: list[str]
    rows: list[ScalingRow]
    efficiency: float | None
    """What `train.efficiency` may say from now on. None if only one number was timed."""


def scale(
    context: typer.Context,
    sweep: SweepFile,
    instances: Annotated[str, typer.Option(metavar="N,N,...", help="The numbers of instances, such as 1,2,4.")],
    dataset: Annotated[
        str, typer.Option(metavar="NAME@VERSION", help="The dataset; without it, the first of the plan.")
    ] = "",
    point: Annotated[int, typer.Option(min=0, metavar="N", help="The number of a point of the space.")] = 0,
    name: Annotated[str, typer.Option(metavar="NAME", help="What the runs are called; without it, SWEEP-scale.")] = "",
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw it beside the ideal: a .svg or .png file.")
    ] = None,
    force: Force = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Time one training of a sweep on several numbers of instances.

    Each number is a run of its own, of the same task on the same lane. It shows what they would cost, and asks. Then it
    follows them to their end. Interrupted, the same command again goes on.

    Example: sweep scale sweep.yaml --instances 1,2,4 --plot scaling.svg
    """
    from orchestrator.api import Scaling, ScalingAsked, compare_timings, draw_scaling, fit_efficiency

    counts = _counts(instances)
    check_picture(plot, "--plot", "scaling.svg", force=force)
    session = Session.of(context)
    scaling = Scaling(session.orchestrator)
    steps = scaling.steps(session.read_sweep(sweep), ScalingAsked(counts, dataset, point, name))
    _show_steps(steps)
    usd = fsum(step.plan.usd for step in steps)
    confirm(f"Train it {formatting.plural(len(steps), 'time')} for about {formatting.money(usd)}?", yes=yes)
    runs, failed = _follow_all(_begin_all(scaling, steps))
    rows = compare_timings(scaling.read(runs))
    efficiency = fit_efficiency(rows)
    if plot and rows:
        files.write(plot, draw_scaling(rows, plot.suffix[1:]))
        render.say(f"wrote {plot}")
    if as_json:
        render.as_json(Scaled([run.name for run in runs], rows, efficiency))
    elif rows:
        render.as_table(rows, ROWS, sys.stdout)
    _say_what_it_means(rows, efficiency)
    if failed:
        raise failed[0]


def _counts(text: str) -> tuple[int, ...]:
    """Return the numbers that --instances gives, the smallest first. Raise UsageError if it gives none."""
    words = text.split(",")
    if not all(word.strip().isdecimal() and 0 < int(word) <= MOST for word in words):
        hint = "write numbers with commas between them: 1,2,4"
        raise UsageError(f"{text!r} are no numbers from 1 to {MOST}", where="--instances", hint=hint)
    return tuple(sorted({int(word) for word in words}))


def _show_steps(steps: list[ScalingStep]) -> None:
    first = steps[0].plan.share(0)
    data = steps[0].plan.datasets[first.dataset].name
    render.say(f"one training on {data}, on {first.places[0].lane}:")
    render.as_table(steps, STEPS, sys.stderr)


def _begin_all(scaling: Scaling, steps: list[ScalingStep]) -> list[Run]:
    begun: list[Run] = []
    ahead: list[Run] = []
    for step in steps:
        begun.append(_begin(scaling, step, ahead))
        ahead.append(begun[-1])
    return begun


def _begin(scaling: Scaling, step: ScalingStep, ahead: list[Run]) -> Run:
    """Begin a run. Where its slots are taken, wait for the end of those that are ahead of it, one after the other."""
    while True:
        try:
            return scaling.begin(step)
        except Refused:
            if not ahead:
                raise
        follow_to_end(ahead.pop(0), sys.stderr)


def _follow_all(runs: list[Run]) -> tuple[list[Run], list[RunFailed | PartlyFailed]]:
    """Follow runs to their ends. Return them, and what those that failed say."""
    failed: list[RunFailed | PartlyFailed] = []
    for run in runs:
        try:
            follow_to_end(run, sys.stderr)
        except (RunFailed, PartlyFailed) as error:
            failed.append(error)
    return runs, failed


def _say_what_it_means(rows: list[ScalingRow], efficiency: float | None) -> None:
    for row in rows:
        if row.attempts > 1:
            what = f"{row.instances} took {row.attempts} attempts"
            render.say(f"warning: the training on {what}: its time has what was lost in it")
    if efficiency is None:
        return
    if efficiency <= 0.5:
        render.say("more instances are not faster: leave `instances` at the smallest number")
    else:
        render.say(f"`efficiency: {efficiency:.3f}` under `train:` tells the planner so")


STEPS: tuple[Column[ScalingStep], ...] = (
    Column("instances", lambda step: step.instances, right=True),
    Column("hours", lambda step: step.plan.finish, formatting.hours, title="expected", right=True),
    Column("usd", lambda step: step.plan.usd, formatting.money, title="$", right=True),
    Column("run", lambda step: step.run),
)
ROWS: tuple[Column[ScalingRow], ...] = (
    Column("instances", lambda row: row.instances, right=True),
    Column("seconds", lambda row: row.seconds, formatting.duration, title="time", right=True),
    Column("speedup", lambda row: row.speedup, "{:.2f}".format, title="speed-up", right=True),
    Column("ideal", lambda row: row.ideal, "{:.4g}".format, right=True),
    Column("efficiency", lambda row: row.efficiency, "{:.0%}".format, right=True),
    Column("usd", lambda row: row.usd, formatting.money, title="cost", right=True),
)
