"""`sweep models`: the champion of each workload."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import formatting, render
from orchestrator.cli.commands.workloads.judged import COLUMNS as JUDGED
from orchestrator.cli.commands.workloads.judged import Judged, judged
from orchestrator.cli.complete import run_names
from orchestrator.cli.confirm import confirm
from orchestrator.cli.options import AsJson, Force, Yes
from orchestrator.cli.render import Column
from orchestrator.cli.session import Session, open_run
from orchestrator.errors import Refused, SweepError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.api import Decision, ModelDifference, Promotion

app = typer.Typer(help="See, change and fetch the champion of a workload.", rich_markup_mode=None)

All = Annotated[bool, typer.Option("--all", help="Also challengers that were refused: by which rule, and why.")]
WorkloadName = Annotated[str, typer.Argument(metavar="WORKLOAD", help="A sweep's name.")]


@app.callback()
def models() -> None:
    """See, change and fetch the champion of a workload."""


@app.command("list")
def list_models(context: typer.Context, every: All = False, as_json: AsJson = False) -> None:
    """List the champion of every workload.

    Example: sweep models list
    """
    session = Session.of(context)
    if every:
        found = [row for name in session.models.challenged() for row in judged(session, name)]
        _show_judged(session, found, as_json=as_json, named=True)
        return
    rows = session.models.champions(session.note_damage)
    if as_json:
        render.as_json(rows)
    elif rows:
        render.as_table(rows, [Column("workload", lambda row: row.model.workload), *COLUMNS])
    else:
        session.check_damage()
        render.say("no workload has a champion yet: `sweep models promote RUN` makes the first")


@app.command()
def show(
    context: typer.Context,
    workload: WorkloadName,
    number: Annotated[int | None, typer.Option(min=1, metavar="N", help="This promotion, with all of it.")] = None,
    every: All = False,
    as_json: AsJson = False,
) -> None:
    """Show every promotion of a workload, the newest first: the first is its champion.

    Example: sweep models show steering --number 3
    """
    session = Session.of(context)
    if number is not None:
        promotion = session.models.read(workload, number)
        if as_json:
            render.as_json(promotion)
        else:
            show_promotion(promotion)
        return
    if every:
        found = judged(session, workload)
        if not found:
            session.models.champion(workload)
        _show_judged(session, found, as_json=as_json)
        return
    rows = session.models.history(workload, session.note_damage)
    if not rows:
        session.models.champion(workload)
    if as_json:
        render.as_json(rows)
    else:
        render.as_table(rows, COLUMNS)


@app.command()
def promote(
    context: typer.Context,
    run: Annotated[str | None, typer.Argument(metavar="[RUN]", autocompletion=run_names, help="A run's name.")] = None,
    task: Annotated[int | None, typer.Option(min=0, metavar="N", help="This task, and not the best.")] = None,
    force: Annotated[bool, typer.Option("--force", help="With --task: whatever the rules say.")] = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Hold the best task of a run against its workload's champion, and promote it if it is better.

    The rules stand under `promote` in the sweep file. Exit code 6 says that it is not better.

    Example: sweep models promote nightly-2026-11-20
    """
    from orchestrator.api import notice_of_decision, tell

    if force and task is None:
        raise UsageError("which task is to be promoted?", where="--force", hint="--task N names it")
    opened = open_run(context, run)
    champions = Session.of(context).models
    if force:
        confirm(f"Promote task {task} of {opened.name}, whatever the rules say?", yes=yes)
    found = champions.challenge(opened) if task is None else champions.promote(opened, task, force=force)
    tell(notice_of_decision(found), opened.plan.sweep, opened.cloud)
    if as_json:
        render.as_json(found)
    else:
        _show_decision(found)
    if not found.promoted:
        hint = "" if force else "--task N --force promotes a task all the same"
        raise Refused(f"not promoted: {found.why}", hint=hint)


@app.command()
def rollback(
    context: typer.Context,
    workload: WorkloadName,
    to: Annotated[int | None, typer.Option(min=1, metavar="N", help="The model of this promotion.")] = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Make what was champion before it champion again. That is a promotion, too: nothing is deleted.

    Example: sweep models rollback steering
    """
    champions = Session.of(context).models
    confirm(f"Roll {workload} back to {f'promotion {to}' if to else 'the champion before this one'}?", yes=yes)
    made = champions.rollback(workload, to)
    _tell_of_rollback(context, made)
    if as_json:
        render.as_json(made)
    else:
        render.line(f"{workload}: promotion {made.number} is champion: {made.model.name}")


def _tell_of_rollback(context: typer.Context, made: Promotion) -> None:
    """Tell those whom the settings name, and the sweep file that the model was made by, if that is known still."""
    from orchestrator.api import notice_of_rollback, notify

    if made.how != "rollback":
        return  # it was champion all the while
    cloud = Session.of(context).models.cloud
    groups = [cloud.account.channels]
    try:
        notified = Session.of(context).orchestrator.run(made.model.run).plan.sweep.notify
        groups += [notified.channels] if notified else []
    except SweepError as error:
        render.say(f"warning: whom {made.model.run} would tell is not known: {error}")
    notify(notice_of_rollback(made), groups, cloud.s3, cloud.clients)


@app.command()
def diff(
    context: typer.Context,
    workload: WorkloadName,
    one: Annotated[int | None, typer.Argument(metavar="[N]", help="A promotion; without it, the one before.")] = None,
    other: Annotated[int | None, typer.Argument(metavar="[N]", help="Another; without it, the champion.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what differs between two promoted models: data, code, image, parameters, metrics, cost.

    Example: sweep models diff steering 2 5
    """
    from orchestrator.api import find_model_differences

    champions = Session.of(context).models
    right = champions.champion(workload) if other is None else champions.read(workload, other)
    before = right.before if one is None else one
    if not before:
        raise UsageError(f"promotion {right.number} of {workload!r} is the first", hint="name two of them")
    left = champions.read(workload, before)
    found = ModelDifferences(workload, left.number, right.number, find_model_differences(left.model, right.model))
    if as_json:
        render.as_json(found)
    elif found.differences:
        render.as_table(found.differences, _difference_columns(found))
    else:
        render.line(f"promotions {left.number} and {right.number} of {workload} are one model")


@app.command()
def get(
    context: typer.Context,
    workload: WorkloadName,
    to: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Without it, WORKLOAD.")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Fetch the champion of a workload from S3, whichever it is.

    Example: sweep models get steering --to model
    """
    fetched = []
    for one in Session.of(context).models.fetch(workload, to or Path(workload), force=force):
        fetched.append(one)
        if not as_json:
            render.line(f"{one.path} ({formatting.size(one.path.stat().st_size)})")
    if as_json:
        render.as_json(fetched)


def _show_judged(session: Session, rows: list[Judged], *, as_json: bool, named: bool = False) -> None:
    if as_json:
        render.as_json(rows)
    elif rows:
        workload = [Column[Judged]("workload", lambda row: row.workload)] if named else []
        render.as_table(rows, [*workload, *JUDGED])
    else:
        session.check_damage()
        render.say("no model was ever held against a champion: `sweep models promote RUN` makes the first")


@dataclass(frozen=True)
class ModelDifferences:
    """What differs between two promoted models, as JSON shows it."""

    workload: str
    one: int
    other: int
    differences: list[ModelDifference]


def _show_decision(found: Decision) -> None:
    for note in found.notes:
        render.say(f"note: {note}")
    if found.champion:
        number, name = found.champion.number, found.champion.model.name
        render.line(f"{found.challenger.workload}: promotion {number} is champion: {name}")
    if found.promoted:
        render.say(found.why)


def show_promotion(promotion: Promotion) -> None:
    """Print all that is written down of a promotion."""
    model = promotion.model
    objective = f"{'maximize' if model.maximize else 'minimize'} {model.metric}" if model.metric else ""
    known = {
        "workload": model.workload,
        "promotion": str(promotion.number),
        "how": f"{promotion.how.replace('_', ' ')}, {formatting.moment(promotion.at)}, by {promotion.by}",
        "why": promotion.why,
        "model": model.artifact,
        "training": f"{model.training} on {model.lane}",
        "score": f"{formatting.number(model.score)} ({objective})" if objective else "",
        "metrics": _pairs(model.metrics),
        "parameters": _pairs(model.point),
        "hyperparameters": _pairs(model.hyperparameters),
        "data": f"{model.dataset} ({model.data_mark})" if model.data_mark else model.dataset,
        "measured on": str(model.evaluation),
        "code": model.code,
        "image": model.image,
        "plan": model.plan,
        "cost": formatting.money(model.usd),
        "owner": model.owner,
    }
    width = max(map(len, known))
    for name, text in known.items():
        if text:
            render.line(f"{name.ljust(width)}  {render.printable(text)}")


def _pairs(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())


def _difference_columns(found: ModelDifferences) -> tuple[Column[ModelDifference], ...]:
    return (
        Column("what", lambda row: row.what),
        Column("one", lambda row: row.one, title=f"promotion {found.one}"),
        Column("other", lambda row: row.other, title=f"promotion {found.other}"),
    )


COLUMNS: tuple[Column[Promotion], ...] = (
    Column("number", lambda row: row.number, right=True),
    Column("score", lambda row: row.model.score, formatting.number, right=True),
    Column("metric", lambda row: row.model.metric),
    Column("run", lambda row: row.model.run),
    Column("task", lambda row: row.model.task, right=True),
    Column("how", lambda row: row.how, lambda how: how.replace("_", " ")),
    Column("at", lambda row: row.at, formatting.moment),
    Column("by", lambda row: row.by),
    Column("dataset", lambda row: row.model.dataset, optional=True),
    Column("region", lambda row: row.model.region, title="Region", optional=True),
    Column("why", lambda row: row.why, optional=True),
    Column("artifact", lambda row: row.model.artifact, optional=True),
)
