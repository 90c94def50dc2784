"""`sweep local`: an AWS on this machine, for trying and for tests."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import render
from orchestrator.cli.commands.account.local_clock import clock
from orchestrator.cli.commands.account.local_fault import fault, faults
from orchestrator.cli.commands.account.local_home import Home
from orchestrator.cli.options import AsJson

if TYPE_CHECKING:
    from orchestrator.localcloud import Serving

app = typer.Typer(help="A local AWS on this machine.", rich_markup_mode=None)


@dataclass(frozen=True)
class Cloud:
    """A local cloud, and the environment that leads a program to it."""

    running: bool
    endpoint: str = ""
    pid: int | None = None
    regions: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    trainings: str = ""
    """Says how trainings are started, if not as usual."""
    page: str = ""
    """The address of the page that shows it."""

    @classmethod
    def of(cls, serving: Serving | None) -> Cloud:
        """Return how the commands show a local cloud that is serving, or None if there is none."""
        from orchestrator.localcloud import environment

        if serving is None:
            return cls(running=False)
        return cls(
            running=True,
            endpoint=serving.endpoint,
            pid=serving.pid,
            regions=tuple(serving.regions),
            environment=environment(serving),
            trainings=serving.trainings,
            page=serving.page,
        )

    @property
    def export(self) -> str:
        """The line that leads a shell to this cloud."""
        return "export " + " ".join(f"{name}={shlex.quote(value)}" for name, value in self.environment.items())


@app.command()
def up(
    home: Home,
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="PORT", help="0 is any that is free.")] = 0,
    regions: Annotated[str | None, typer.Option(metavar="R,R", help="Its Regions, with commas between.")] = None,
    detached: Annotated[
        bool, typer.Option("--detached", "-d", help="In the background, until `sweep local down`.")
    ] = False,
    empty: Annotated[
        bool, typer.Option("--empty", help="It has nothing yet, as a new account: see `sweep infra deploy`.")
    ] = False,
    iam: Annotated[bool, typer.Option("--iam", help="Callers are held to their policies, as AWS's IAM does.")] = False,
    toolkit: Annotated[
        bool, typer.Option("--toolkit", help="AWS's own training toolkit starts trainings (`make toolkit`).")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Start a local AWS, and print the line that leads a shell to it, with the key that it takes.

    S3, Batch and SageMaker, whose jobs are processes of this machine. Serves until Ctrl-C, or in the background.

    Example: eval "$(sweep local up -d)"
    """
    from orchestrator import localcloud

    wanted = regions.split(",") if regions else localcloud.names.REGIONS
    if detached:
        _show(localcloud.up(home, port=port, regions=wanted, empty=empty, iam=iam, toolkit=toolkit), as_json=as_json)
        return
    with localcloud.LocalCloud(home, port=port, regions=wanted, empty=empty, iam=iam, toolkit=toolkit) as cloud:
        _show(localcloud.status(home), as_json=as_json)
        render.say("serving until Ctrl-C")
        cloud.wait()
    raise localcloud.LocalCloudError("the local cloud has ended by itself")


@app.command()
def down(home: Home, as_json: AsJson = False) -> None:
    """Stop the local AWS, and all that runs on it.

    Example: sweep local down
    """
    from orchestrator import localcloud

    ran = localcloud.down(home)
    if as_json:
        render.as_json(Cloud(running=False))
    else:
        render.say("stopped" if ran else "no local cloud ran")


@app.command()
def status(home: Home, as_json: AsJson = False) -> int:
    """Print the line that leads a shell to the local AWS. Ends with 1 if none runs.

    Example: sweep local status
    """
    from orchestrator import localcloud

    serving = localcloud.status(home)
    if serving is not None or as_json:
        _show(serving, as_json=as_json)
    else:
        render.say("no local cloud runs: `sweep local up` starts one")
    return 0 if serving else 1


def _show(serving: Serving | None, *, as_json: bool) -> None:
    cloud = Cloud.of(serving)
    if as_json:
        render.as_json(cloud)
        return
    render.line(cloud.export)
    if cloud.trainings:
        render.say(cloud.trainings)
    render.say(f"{cloud.endpoint} in {', '.join(cloud.regions)} (process {cloud.pid})")
    render.say(f"its page: {cloud.page}")


app.command()(clock)
app.command()(fault)
app.command()(faults)
