"""The program: its commands, and the options that may stand before any of them."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from typer.core import TyperGroup

from orchestrator.cli.render import line
from orchestrator.cli.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

INTERRUPTED = 130  # what typer makes of Ctrl-C
COMMANDS: dict[str, str] = {
    "init": "sweeps.init:init",
    "infra": "account.infra:app",
    "doctor": "account.doctor:doctor",
    "catalog": "account.catalog:app",
    "prices": "account.prices:prices",
    "quotas": "account.quotas:quotas",
    "learned": "account.learned:app",
    "plan": "sweeps.plan:plan",
    "submit": "sweeps.submit:submit",
    "runs": "runs.runs:runs",
    "status": "runs.status:status",
    "watch": "runs.watch:watch",
    "why": "runs.why:why",
    "logs": "runs.logs:logs",
    "results": "runs.results:results",
    "artifacts": "runs.artifacts:app",
    "models": "workloads.models:app",
    "notify": "workloads.notify:notify",
    "cost": "runs.cost:cost",
    "cancel": "steering.cancel:cancel",
    "limit": "steering.limit:limit",
    "retry": "steering.retry:retry",
    "replan": "steering.replan:replan",
    "reproduce": "runs.reproduce:reproduce",
    "diff": "runs.diff:diff",
    "sync": "runs.sync:sync",
    "schedule": "schedules.schedule:app",
    "reap": "account.reap:reap",
    "scale": "sweeps.scale:scale",
    "schema": "sweeps.schema:schema",
    "images": "account.images:app",
    "local": "account.local:app",
    "demo": "sweeps.demo:demo",
}
"""The place of each command, or group of commands, below `commands/`: as module:name.

`--help` lists them in this order: that in which they are used.
"""


class OnDemand(Mapping[str, Any]):
    """The commands by name, each imported and made when it is asked for. Whoever calls one need not wait for all."""

    def __getitem__(self, name: str) -> Any:
        return _made(COMMANDS[name])

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


@cache
def _made(where: str) -> Any:
    module, _, name = where.partition(":")
    found = getattr(import_module(f"orchestrator.cli.commands.{module}"), name)
    if isinstance(found, typer.Typer):
        return typer.main.get_group(found)
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command()(found)
    return typer.main.get_command(alone)


class Commands(TyperGroup):
    """The group of all commands."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = cast("Any", OnDemand())


app = typer.Typer(
    name="sweep",
    cls=Commands,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


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
