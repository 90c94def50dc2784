"""`sweep submit`: do exactly this plan, once."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import formatting, render
from orchestrator.cli.commands.sweeps.plan import Classic, show_plan
from orchestrator.cli.confirm import confirm
from orchestrator.cli.errors import Interrupted
from orchestrator.cli.options import AsJson, Yes
from orchestrator.cli.placing import placing
from orchestrator.cli.session import Session
from orchestrator.cli.views.follow import follow_to_end
from orchestrator.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.api import Orchestrator, Plan, Run, Sweep

PlanFile = Annotated[Path, typer.Argument(metavar="FILE", help="A plan.json, or a sweep.yaml to plan now.")]


@dataclass(frozen=True)
class Submitted:
    """The run that was submitted, as JSON shows it."""

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
    replan: Annotated[bool, typer.Option("--replan", help="If the plan no longer holds, plan anew.")] = False,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Stay until the run has ended.")] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print the exact AWS requests as JSON, or why none would be sent; send none."),
    ] = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Submit a plan: exactly once, however often this is called.

    Shows the plan and asks. Interrupted at any point, the same command again completes it. Prints the run's name.
    A plan that no longer holds is refused, with exit code 6: places or slots are gone, it is over 2 % dearer today, or
    it may cost more than it promises.

    Example: sweep submit plan.json --name nightly-2026-11-20 --watch
    """
    session = Session.of(context)
    orchestrator = session.orchestrator
    find_run = _find_nothing if again else partial(_find_run, orchestrator, name)
    with placing(file):
        plan, there = _plan_to_submit(session, file, manifest, find_run, replan=replan)
    ended = there is not None and there.status().finished
    if dry_run:
        with placing(file):
            requests = orchestrator.requests(plan, name=there.name if there else name, again=again)
        render.as_json(requests)
        for line in requests["left_out"]:
            render.say(f"note: {line}")
        if there:
            render.say(_after_the_end(there) if ended else "note: what the run has of this is not sent again")
        return
    show_plan(plan, sys.stderr)
    _show_where_code_is(plan)
    if not ended:
        confirm(f"Submit {formatting.plural(plan.tasks, 'task')} for about {formatting.money(plan.usd)}?", yes=yes)
    with placing(file):
        run = _submit(orchestrator, plan, there.name if there else name, again=again, file=file)
    if as_json:
        render.as_json(Submitted(run.name, plan.id, plan.tasks, plan.usd))
    else:
        render.line(run.name)
    if watch:
        follow_to_end(run, sys.stderr)
    elif ended:
        render.say(_after_the_end(run))
    else:
        render.say(f"submitted: `sweep watch {run.name}` follows it")


def _after_the_end(run: Run) -> str:
    """Return how a run has ended that is submitted once more, and what can be done about it."""
    from orchestrator.api import TaskState

    status = run.status()
    if status.state == "done":
        return f"{run.name} is done: `sweep results {run.name}` shows it, --again makes another"
    left = f"{status.tasks - status.counts[TaskState.DONE]:,} of {formatting.plural(status.tasks, 'task')}"
    return (
        f"{run.name} has ended with {left} not done: `sweep results {run.name}` says why, "
        f"`sweep retry {run.name}` runs them again, --again makes another run"
    )


def _show_where_code_is(plan: Plan) -> None:
    """Say which folder is sent, if it is not below the current one: a plan's file says where, and its id does not."""
    folder = plan.source_folder
    if folder is not None and not folder.resolve().is_relative_to(Path.cwd().resolve()):
        render.say(f"its code is sent from {render.printable(str(folder.resolve()))}")


def _refuse_foreign_folder(plan: Plan, file: Path) -> None:
    """Raise UsageError if code would be sent from where neither we are nor the plan lies, but the plan's file says so.

    Anybody who hands over a plan can write a folder into it: it is no part of the plan's id.
    """
    folder, homes = plan.sweep.folder.resolve(), (Path.cwd().resolve(), file.resolve().parent)
    if plan.source_folder is not None and not any(folder.is_relative_to(home) for home in homes):
        raise UsageError(
            f"its code lies in {render.printable(str(folder))}, which is neither below this folder nor beside the plan",
            where=str(file),
            hint="if that is meant, submit it from there",
        )


def _plan_to_submit(
    session: Session,
    file: Path,
    manifest: Path | None,
    find_run: Callable[[Sweep, str], Run | None],
    *,
    replan: bool,
) -> tuple[Plan, Run | None]:
    """Return the plan to submit: the file's, or its sweep's. Where a run of that is there, it and its plan.

    An unfinished run holds its slots: if its sweep were planned now, its tasks would go elsewhere.
    """
    from orchestrator.api import read_plan

    orchestrator = session.orchestrator
    if file.suffix != ".json":
        sweep = session.read_sweep(file)
        run = find_run(sweep, "")
        return (run.plan, run) if run else (orchestrator.plan(session.warmed(sweep), classic=manifest), None)
    if manifest is not None:
        hint = "give the sweep.yaml instead, or plan with --manifest"
        raise UsageError("a plan already says which tasks there are", where="--manifest", hint=hint)
    plan = read_plan(file)
    _refuse_foreign_folder(plan, file)
    if not replan:
        return plan, find_run(plan.sweep, plan.id)
    run = find_run(plan.sweep, "")
    return (run.plan, run) if run else (_replanned_if_stale(orchestrator, plan), None)


def _find_run(orchestrator: Orchestrator, name: str | None, sweep: Sweep, plan: str = "") -> Run | None:
    """Return the run of this sweep that is there, and say so; None if there is none.

    Of a plan, by its id, it is the run of exactly that plan.
    """
    if name is None and plan:
        name = plan
    run = orchestrator.run_of(sweep, name)
    if run is None or plan not in ("", run.plan.id):
        return None
    how = "has ended" if run.status().finished else "is under way, and is completed"
    render.say(f"note: run {run.name} of this {'plan' if plan else 'sweep'} {how}; --again makes another")
    return run


def _find_nothing(_: Sweep, __: str) -> None:
    """Return None: no run that is there is to be gone on with."""


def _replanned_if_stale(orchestrator: Orchestrator, plan: Plan) -> Plan:
    """Return the plan if it still holds. If not, say why, and return another one."""
    reason = orchestrator.stale(plan)
    if not reason:
        return plan
    render.say(f"note: plan {plan.id} is stale: {reason}. Planned anew:")
    return orchestrator.replan(plan)


def _submit(orchestrator: Orchestrator, plan: Plan, name: str | None, *, again: bool, file: Path) -> Run:
    """Submit the plan. Where somebody has just submitted the same sweep under this name, go on with their run."""
    from orchestrator.api import OtherPlan

    try:
        return orchestrator.submit(plan, name=name, again=again)
    except OtherPlan:
        theirs = _find_run(orchestrator, name, plan.sweep) if file.suffix != ".json" else None
        if theirs is None:
            raise
        return orchestrator.submit(theirs.plan, name=theirs.name)
    except KeyboardInterrupt as error:
        hint = "the same command again completes it; `sweep cancel` stops what was sent"
        raise Interrupted("a part may have been submitted", hint=hint) from error
