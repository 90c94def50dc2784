"""The program: its commands, and the options that may stand before any of them."""

from __future__ import annotations

import logging
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from orchestrator.cli.commands.account import catalog, images, infra, local, local_fault, prices, quotas, reap
from orchestrator.cli.commands.runs import (
    artifacts,
    cancel,
    cost,
    diff,
    logs,
    reproduce,
    results,
    retry,
    runs,
    status,
    sync,
    watch,
    why,
)
from orchestrator.cli.commands.sweeps import demo, init, plan, schema, submit
from orchestrator.cli.render import line
from orchestrator.cli.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

INTERRUPTED = 130  # what typer makes of Ctrl-C
COMMANDS: dict[str, typer.Typer | Callable[..., None]] = {
    "init": init.init,
    "infra": infra.app,
    "catalog": catalog.app,
    "prices": prices.prices,
    "quotas": quotas.quotas,
    "plan": plan.plan,
    "submit": submit.submit,
    "runs": runs.runs,
    "status": status.status,
    "watch": watch.watch,
    "why": why.why,
    "logs": logs.logs,
    "results": results.results,
    "artifacts": artifacts.app,
    "cost": cost.cost,
    "cancel": cancel.cancel,
    "retry": retry.retry,
    "reproduce": reproduce.reproduce,
    "diff": diff.diff,
    "sync": sync.sync,
    "reap": reap.reap,
    "schema": schema.schema,
    "images": images.app,
    "local": local.app,
    "demo": demo.demo,
}
"""Every command, or group of commands, in the order in which `--help` lists them: that in which they are used."""


class InOrder(TyperGroup):
    """A group that lists its commands as COMMANDS does. Typer would list groups first."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Return the commands' names."""
        return list(COMMANDS)


app = typer.Typer(
    name="sweep",
    cls=InOrder,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
local.app.command()(local_fault.fault)
local.app.command()(local_fault.faults)
for name, command in COMMANDS.items():
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name)
    else:
        app.command(name)(command)


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
    level = logging.INFO if verbose else logging.WARNING
    if debug:
        level = logging.DEBUG
    context.obj = Session(profile, region, database, level)
    context.call_on_close(context.obj.check_damage)


def run(arguments: Sequence[str]) -> int:
    """Run the command that these arguments ask for, and return its exit code. No arguments at all ask for help."""
    command = typer.main.get_command(app)
    options = global_options(command)
    own = own_options(command, arguments, options)
    words = move_to_front(arguments, {name: options[name] for name in options.keys() - own}) or ["--help"]
    code = command.main(args=words, prog_name="sweep", standalone_mode=False)
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0


def global_options(command: Any) -> dict[str, bool]:
    """Return the options before the commands: each spelling, and whether a value follows it.

    Those that print something and end, such as --version, are not among them.
    """
    return {
        spelling: not option.is_flag for option in command.params if not option.is_eager for spelling in option.opts
    }


def own_options(command: Any, arguments: Sequence[str], options: Mapping[str, bool]) -> set[str]:
    """Return the spellings that the command which these arguments name has for itself, such as --region.

    They mean what that command says wherever they stand behind it.
    """
    named, words = command, iter(arguments)
    for word in words:
        if options.get(word):
            next(words, None)
        named = getattr(named, "commands", {}).get(word, named)
    return {spelling for option in named.params for spelling in option.opts if named is not command}


def move_to_front(arguments: Sequence[str], options: Mapping[str, bool]) -> list[str]:
    """Return the arguments with these options in front, where the parser wants them; a person may write them anywhere.

    `options` says of each spelling whether a value follows it.
    """
    front: list[str] = []
    rest: list[str] = []
    words = iter(arguments)
    for word in words:
        spelling, equals, _ = word.partition("=")
        if word == "--":
            rest += [word, *words]
        elif spelling not in options or (equals and not options[spelling]):
            rest.append(word)
        elif options[spelling] and not equals:
            front += [word, *islice(words, 1)]
        else:
            front.append(word)
    return front + rest
