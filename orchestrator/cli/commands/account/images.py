"""`sweep images`: the containers that trainings and launchers run in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli import render
from orchestrator.cli.options import AsJson
from orchestrator.cli.render import Column
from orchestrator.cli.session import Session
from orchestrator.errors import UsageError

app = typer.Typer(help="Bring container images to every Region.", rich_markup_mode=None)


@app.callback()
def images() -> None:
    """Bring container images to every Region."""


@app.command()
def push(
    context: typer.Context,
    image: Annotated[str, typer.Argument(metavar="IMAGE", help="A local image, such as sweep-pytorch:1.")],
    to: Annotated[
        str | None, typer.Option(metavar="R,R", help="Regions; without it the control Region and all that hold data.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Push a local image to the ECR of every Region, under the same name.

    The repository is made where it is missing. Docker must be there, and the image built: `make images` builds ours.

    Example: sweep images push sweep-pytorch:1 --to us-east-1,eu-west-1
    """
    from orchestrator.api import image_address

    regions = None if to is None else [name.strip() for name in to.split(",") if name.strip()]
    if regions == []:
        raise UsageError("names no Region", where="--to", hint="such as --to us-east-1,eu-west-1")
    pushed = []
    for one in Session.of(context).orchestrator.push_image(image, regions):
        pushed.append(one)
        render.say(f"{one.region}: pushed")
    if as_json:
        render.as_json(pushed)
        return
    render.as_table(pushed, [Column("region", lambda row: row.region), Column("digest", lambda row: row.digest)])
    render.say(f"in a sweep file: image: {image_address(image)}")


@app.command()
def launcher(
    context: typer.Context,
    base: Annotated[
        str | None,
        typer.Option(
            metavar="IMAGE|FILE",
            help="The image to make it on: in a registry, or a tar of an OCI layout. Else Python's own slim one.",
        ),
    ] = None,
    wheels: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Wheels of this package, boto3 and all they need. Else what is installed here.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make the launcher's image in the control Region's ECR, without docker, and name it in sweep.toml.

    The layers of a base, and one of packages: the same parts make the same image, and one that is there is left alone.
    `sweep infra deploy` does this too.

    Example: sweep images launcher --base python-slim.tar
    """
    from orchestrator.cli.views.infra import tell_filled, tell_image
    from orchestrator.images.launcher import Parts

    infra = Session.of(context).infra
    brought = infra.bring_image(Parts(base or "", wheels))
    if as_json:
        render.as_json(brought)
    filled = infra.fill_image(tell_image(brought))
    tell_filled(filled)
