"""`sweep infra`: what an account needs before anything can run in it."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli import render
from orchestrator.cli.options import AsJson
from orchestrator.cli.session import Session

app = typer.Typer(help="What an AWS account needs, made by CloudFormation.", rich_markup_mode=None)


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
