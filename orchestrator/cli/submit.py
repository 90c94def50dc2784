"""`sweep submit`: do exactly this plan, once."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import follow, render, values
from orchestrator.cli.ask import confirm
from orchestrator.cli.options import AsJson, Yes
from orchestrator.cli.plan import Classic, show
from orchestrator.cli.problems import Interrupted
from orchestrator.cli.session import Session
from orchestrator.errors import UsageError

if TYPE_CHECKING:
    from orchestrator.api import Orchestrator, Plan, Run

PlanFile = Annotated[Path, typer.Argument(metavar="FILE", help="A plan.json, or a sweep.yaml to plan now.")]


@dataclass(frozen=True)
class Submitted:
    run: str
    plan: str
    tasks: int
    usd: float


def submit(
    context: typer.Context,
    file: PlanFile,
    manifest: Classic = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="The run's name; without one, the plan's id.")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Another run of a plan that has been run.")] = False,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Stay until the run has ended.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the exact AWS requests as JSON; send none.")
    ] = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Submit a plan: exactly once, however often this is called.

    Shows the plan and asks. Interrupted at any point, the same command again completes it. Prints the run's name.

    Example: sweep submit plan.json --name nightly-2026-11-20 --watch
    """
    orchestrator = Session.of(context).orchestrator
    plan = _plan(orchestrator, file, manifest)
    if dry_run:
        requests = orchestrator.requests(plan, name=name)
        render.as_json(requests)
        for line in requests["left_out"]:
            render.say(f"note: {line}")
        return
    show(plan, sys.stderr)
    confirm(f"Submit {values.plural(plan.tasks, 'task')} for about {values.money(plan.usd)}?", yes=yes)
    run = _submit(orchestrator, plan, name, again=again)
    if as_json:
        render.as_json(Submitted(run.name, plan.id, plan.tasks, plan.usd))
    else:
        render.line(run.name)
    if watch:
        follow.to_the_end(run, sys.stderr)
    else:
        render.say(f"submitted: `sweep watch {run.name}` follows it")


def _plan(orchestrator: Orchestrator, file: Path, manifest: Path | None) -> Plan:
    from orchestrator.api import read_plan, read_sweep

    if file.suffix != ".json":
        return orchestrator.plan(read_sweep(file), classic=manifest)
    if manifest is not None:
        hint = "give the sweep.yaml instead, or plan with --manifest"
        raise UsageError("a plan already says which tasks there are", where="--manifest", hint=hint)
    return read_plan(file)


def _submit(orchestrator: Orchestrator, plan: Plan, name: str | None, *, again: bool) -> Run:
    try:
        return orchestrator.submit(plan, name=name, again=again)
    except KeyboardInterrupt as error:
        hint = "the same command again completes it; `sweep cancel` stops what was sent"
        raise Interrupted("a part may have been submitted", hint=hint) from error
