"""`sweep infra`: what an account needs before anything can run in it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import render
from orchestrator.cli.confirm import confirm
from orchestrator.cli.errors import Declined
from orchestrator.cli.options import AsJson, Yes
from orchestrator.cli.session import Session
from orchestrator.cli.views.infra import (
    CHANGE_COLUMNS,
    GOING_COLUMNS,
    STACK_COLUMNS,
    Deployed,
    changes_of,
    going_of,
    state_of,
    tell_filled,
    tell_image,
)
from orchestrator.errors import AccessDenied, PartlyFailed, SweepError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.infra.infra import Infra
    from orchestrator.infra.stacks.deploy import Planned
    from orchestrator.infra.stacks.state import StackState

app = typer.Typer(help="What an AWS account needs, made by CloudFormation.", rich_markup_mode=None)

Regions = Annotated[
    list[str] | None,
    typer.Option(
        metavar="REGION",
        help="A Region to train in, beside those of sweep.toml. Repeatable.",
        show_default=False,
    ),
]


@app.command()
def template(
    context: typer.Context,
    region: Annotated[
        str | None,
        typer.Option(metavar="REGION", help="That of this Region to train in, instead of the control Region's."),
    ] = None,
    as_json: AsJson = False,  # noqa: ARG001 - a template is JSON
) -> None:
    """Print a CloudFormation template, as `sweep infra deploy` sends it. Nothing is asked of AWS.

    The control Region has one stack: the bucket of runs, roles, queues, the launcher's repository. Each Region to train
    in has another: its bucket and repository. What the settings name already is yours, and is left out.

    Example: sweep infra template --region eu-west-1
    """
    render.line(Session.of(context).infra.template(region))


@app.command()
def deploy(
    context: typer.Context,
    region: Regions = None,
    revert_drift: Annotated[
        bool, typer.Option("--revert-drift", help="Put back what somebody has changed by hand, too.")
    ] = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Make the account ready: show what changes, ask, do it, and write the names into sweep.toml.

    The launcher's image is made too, unless `launcher_image` names one of yours: see `sweep images launcher`.
    Deploying again changes what has to change, and nothing else. What the settings name already is yours: it is used as
    it is. What sweep.toml says stays, and is told where it differs. To train in fewer Regions, see `infra destroy`.
    Where there is nothing to change, it looks for what somebody has changed by hand, and ends with 5 if there is such.

    Example: sweep infra deploy --region us-east-1 --region eu-west-1
    """
    infra = Session.of(context).infra
    regions = infra.regions(region or ())
    planned = infra.plan_changes(regions, reverts_drift=revert_drift)
    rows = [row for each in planned for row in changes_of(each)]
    for left in infra.left_out(regions):
        render.say(f"{left} is not trained in any more: `sweep infra destroy --region {left}` takes its stack away")
    if rows and not (as_json and yes):
        render.as_table(rows, CHANGE_COLUMNS, sys.stderr if as_json else None)
    if planned:
        _ask(infra, planned, yes=yes)
    stacks = []
    for stack in infra.carry_out(planned):
        render.say(f"{stack.name} in {stack.region}: {stack.status}")
        stacks.append(stack)
    image = _bring_image(infra, regions)
    filled = infra.fill(regions, image)
    if as_json:
        render.as_json(Deployed.of(regions, rows, filled))
    else:
        if not planned:
            render.say("nothing to change: the stacks have this very template")
        tell_filled(filled)
    if not planned and not revert_drift:
        _check_drift(infra)


def _check_drift(infra: Infra) -> None:
    """Tell what somebody has changed by hand of stacks that have this very template. Raise PartlyFailed for it."""
    try:
        drifted = [each for each in infra.status() if each.drifts]
    except AccessDenied as error:
        render.say(f"warning: what somebody has changed by hand was not looked for: {error}")
        return
    for each in drifted:
        _tell_drifts(each)
    if drifted:
        hint = "`sweep infra deploy --revert-drift` puts it back"
        raise PartlyFailed("somebody has changed by hand what was deployed", hint=hint)


def _tell_drifts(state: StackState) -> None:
    for drift in state.drifts:
        how = "is gone" if drift.is_gone else f"was changed: {', '.join(drift.properties)}"
        render.say(f"{state.region}: {drift.physical} ({drift.type}) {how}")


def _bring_image(infra: Infra, regions: Sequence[str]) -> str:
    """Return the address of the launcher's image, put into ECR; nothing if the team has its own.

    Raise PartlyFailed if that fails: what was deployed is written down nevertheless.
    """
    from orchestrator.images.launcher import Parts

    if infra.has_own_image:
        return ""
    try:
        return tell_image(infra.bring_image(Parts()))
    except SweepError as error:
        tell_filled(infra.fill(regions))
        hint = "the stacks are there; `sweep images launcher` makes it, with `--base FILE` from a base in a file"
        raise PartlyFailed(f"the launcher's image was not made: {error}", hint=hint) from error


def _ask(infra: Infra, planned: list[Planned], *, yes: bool) -> None:
    """Return if the person agrees. What was planned is taken back otherwise."""
    try:
        confirm("Deploy this?", yes=yes)
    except (Declined, UsageError, KeyboardInterrupt):
        infra.drop(planned)
        raise


@app.command()
def status(context: typer.Context, as_json: AsJson = False) -> None:
    """Show each stack: its version, whether deploying would change it, and what somebody else has changed of it.

    Ends with 5 if a stack is missing, behind, or no longer what was deployed.

    Example: sweep infra status
    """
    found = Session.of(context).infra.status()
    if as_json:
        render.as_json([state_of(each) for each in found])
    else:
        render.as_table([state_of(each) for each in found], STACK_COLUMNS)
        for each in found:
            if each.what_to_do:
                render.say(f"{each.region}: {each.name} is in state {each.status}: {each.what_to_do}")
            _tell_drifts(each)
    if not all(each.is_well for each in found):
        hint = "`sweep infra deploy` shows what it would change"
        if any(each.drifts for each in found):
            hint += ", and with --revert-drift it puts back what somebody has changed by hand"
        raise PartlyFailed("not everything is as it should be", hint=hint)


@app.command()
def destroy(
    context: typer.Context,
    region: Annotated[
        list[str] | None,
        typer.Option(
            metavar="REGION",
            help="Only this Region's stack: it is not trained in any more. Repeatable.",
            show_default=False,
        ),
    ] = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Delete the stacks, but no data: buckets, repositories and logs stay, and are named.

    Refused while jobs wait or run in the queues. Deploying again takes up what has stayed.

    Example: sweep infra destroy
    """
    infra = Session.of(context).infra
    going = infra.plan_destruction(region or ())
    rows = [row for each in going for row in going_of(each)]
    if rows and not (as_json and yes):
        render.as_table(rows, GOING_COLUMNS, sys.stderr if as_json else None)
    if going:
        confirm("Delete what is said to go?", yes=yes)
    for each in infra.destroy(going):
        render.say(f"{each.stack.name} in {each.stack.region}: gone")
    if region and (filled := infra.forget(region)):
        tell_filled(filled)
        render.say("`sweep infra deploy` takes their queues away, too")
    if as_json:
        render.as_json(rows)
    elif not going:
        render.say("there is no stack of sweep")
