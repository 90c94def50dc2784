"""The commands and the options before them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from orchestrator.cli import (
    catalog,
    change,
    cost,
    demo,
    fault,
    images,
    init,
    local,
    look,
    plan,
    results,
    schema,
    submit,
)
from orchestrator.cli.render import line
from orchestrator.cli.session import Session

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130  # what typer makes of Ctrl-C
ORDER = (
    *("init", "catalog", "plan", "submit", "runs", "status", "watch", "logs", "results", "cost"),
    *("cancel", "retry", "sync", "schema", "images", "local", "demo"),
)


class InOrder(TyperGroup):
    """Commands listed in the order in which they are used."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return sorted(self.commands, key=ORDER.index)


app = typer.Typer(
    name="sweep",
    cls=InOrder,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command()(init.init)
app.add_typer(catalog.app, name="catalog")
app.command()(plan.plan)
app.command()(submit.submit)
app.command()(look.runs)
app.command()(look.status)
app.command()(look.watch)
app.command()(look.logs)
app.command()(results.results)
app.command()(cost.cost)
app.command()(change.cancel)
app.command()(change.retry)
app.command()(change.sync)
app.command()(schema.schema)
app.add_typer(images.app, name="images")
local.app.command()(fault.fault)
local.app.command()(fault.faults)
app.add_typer(local.app, name="local")
app.command()(demo.demo)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        line(version("sweep-orchestrator"))
        raise typer.Exit


@app.callback()
def sweep(
    context: typer.Context,
    profile: Annotated[str | None, typer.Option(help="AWS profile.")] = None,
    region: Annotated[str | None, typer.Option(help="Control Region: AWS Batch and the control bucket.")] = None,
    database: Annotated[
        str | None, typer.Option(metavar="URL", help="Catalog and ledger, as sqlite:///FILE or postgresql://...")
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say what is being done.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,
    version: Annotated[  # noqa: ARG001 - its callback has printed it
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Run one sweep over data in many AWS Regions: for the least money, in time, exactly once.

    \b
    sweep init                    # a sweep.yaml to start from
    sweep catalog load data/      # what data, prices and quotas there are
    sweep plan sweep.yaml -o plan.json
    sweep submit plan.json --watch
    sweep results

    The options below go before or after the command. `sweep demo` shows it all on this machine.
    """
    level = logging.DEBUG if debug else logging.INFO if verbose else logging.WARNING
    context.obj = Session(profile, region, database, level)


def run(arguments: Sequence[str]) -> int:
    """The exit code of these arguments; none at all ask for help."""
    command = typer.main.get_command(app)
    code = command.main(args=hoist(arguments) or ["--help"], prog_name="sweep", standalone_mode=False)
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0


VALUED = ("--profile", "--region", "--database")
FLAGS = ("--verbose", "-v", "--debug")


def hoist(arguments: Sequence[str]) -> list[str]:
    """Global options may stand anywhere; the parser wants them in front of the command."""
    front: list[str] = []
    rest: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--":
            rest += [word, *words]
        elif word in FLAGS or word.startswith(tuple(f"{name}=" for name in VALUED)):
            front.append(word)
        elif word in VALUED:
            front += [word, *([value] if (value := next(words, None)) is not None else [])]
        else:
            rest.append(word)
    return front + rest
