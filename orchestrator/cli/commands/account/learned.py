"""`sweep learned`: what runs have taught, which plans count on, and what somebody says instead."""

from __future__ import annotations

import re
import shlex
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from orchestrator.cli import formatting, render
from orchestrator.cli.options import AsJson
from orchestrator.cli.render import Column
from orchestrator.cli.session import Session
from orchestrator.errors import UsageError

if TYPE_CHECKING:
    from orchestrator.api import LearnedMark, LearnedRow


class _ShowByDefault(TyperGroup):
    """The group of these commands. What is no command's name is a sweep file, which `show` takes."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        known = args and args[0] in self.commands
        return super().resolve_command(ctx, args if known else ["show", *args])

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args[:1] == ["pin"]:
            for value in args:
                if re.fullmatch(r"-\$?[\d.].*", value):  # which would be read as an option
                    raise UsageError(f"{value} is below zero, and no value is")
        asks_help = bool(args) and args[0] in ctx.help_option_names
        return super().parse_args(ctx, args if asks_help or (args and args[0] in self.commands) else ["show", *args])


app = typer.Typer(
    cls=_ShowByDefault,
    help="Show what runs have taught, which plans count on; pin a value, or forget what is past.",
    rich_markup_mode=None,
)


@app.callback()
def learned() -> None:
    """Show what runs have taught, which plans count on; pin a value, or forget what is past.

    Example: sweep learned sweep.yaml
    """


class Kind(str, Enum):
    """A kind of what is learned."""

    RUNTIME = "runtime"
    PRICE = "price"
    INTERRUPTIONS = "interruptions"
    WAITING = "waiting"
    START = "start"


What = Annotated[Kind, typer.Argument(metavar="WHAT", help="runtime, price, interruptions, waiting or start.")]
Place = Annotated[
    str,
    typer.Argument(
        metavar="WHERE", help="The lane, such as sagemaker/us-east-1/ml.g5.xlarge/spot; of a runtime the instance type."
    ),
]
AnyPlace = Annotated[
    str | None,
    typer.Argument(metavar="[WHERE]", help="The lane, or of a runtime the instance type; without it, all of them."),
]
Workload = Annotated[
    str | None, typer.Option("--workload", metavar="NAME", help="The sweep's name: whose runtime it is.")
]


@app.command()
def show(
    context: typer.Context,
    sweep: Annotated[
        Path | None, typer.Argument(metavar="[SWEEP.yaml]", help="Only the runtimes of this workload.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what runs have taught, and how much each figure rests on. `sweep learned` alone does the same.

    A plan counts VALUE: what was seen, by its WEIGHT, and for the rest what was thought before.

    Example: sweep learned show sweep.yaml
    """
    session = Session.of(context)
    rows = session.learned.rows(session.read_sweep(sweep) if sweep else None)
    if as_json:
        render.as_json(rows)
    elif rows:
        render.as_table(rows, COLUMNS)
    else:
        render.say("nothing was learned yet: runs that end, and that `sweep sync` has read, teach it")


@app.command()
def pin(
    context: typer.Context,
    what: What,
    value: Annotated[
        str, typer.Argument(metavar="VALUE", help="A time such as 90m; dollars an hour of a price; times an hour.")
    ],
    where: Place,
    workload: Workload = None,
    as_json: AsJson = False,
) -> None:
    """Set a value that plans count on, whatever is learned. A plan says that it did.

    Example: sweep learned pin price 0.42 sagemaker/us-east-1/ml.g5.xlarge/spot
    """
    said = Session.of(context).learned.pin(what.value, where, _read(what, value), workload or "")
    whose = ["--workload", workload] if workload else []
    back = shlex.join(["sweep", "learned", "unpin", what.value, where, *whose])
    _tell(said, f"the {what.value} of {where} {_is(what)} pinned: `{back}` takes that back", as_json=as_json)


@app.command()
def unpin(context: typer.Context, what: What, where: Place, workload: Workload = None, as_json: AsJson = False) -> None:
    """Let what is learned count again.

    Example: sweep learned unpin price sagemaker/us-east-1/ml.g5.xlarge/spot
    """
    said = Session.of(context).learned.unpin(what.value, where, workload or "")
    _tell(said, f"the {what.value} of {where} {_is(what)} learned again", as_json=as_json)


@app.command()
def forget(
    context: typer.Context, what: What, where: AnyPlace = None, workload: Workload = None, as_json: AsJson = False
) -> None:
    """Let nothing count that was observed until now. It stays in the database; what comes from now on counts.

    Example: sweep learned forget waiting sagemaker/us-east-1/ml.g5.xlarge/spot
    """
    said = Session.of(context).learned.forget(what.value, where, workload or "")
    _tell(said, f"the {what.value} of {where or 'every place'} {_is(what)} learned from now on", as_json=as_json)


def _tell(said: LearnedMark, words: str, *, as_json: bool) -> None:
    if as_json:
        render.as_json(said)
    else:
        render.say(words)


def _read(what: Kind, text: str) -> float:
    """Return a value in hours; of a price in dollars an hour, of interruptions in how many an hour.

    UsageError for what is none.
    """
    from orchestrator.api import read_duration

    try:
        value = float(text.removeprefix("$")) if what in _FORMS else read_duration(text) / 3600
    except ValueError as error:
        hint = f"write {_FORMS.get(what, 'a time, like 90m or 1h30m')}"
        raise UsageError(f"{text!r} says no {what.value}", hint=hint) from error
    above_zero = what in (Kind.PRICE, Kind.RUNTIME)
    if not 0 <= value <= MOST or (value == 0 and above_zero):
        least = "more than 0" if above_zero else "0 or more"
        raise UsageError(f"the {what.value} cannot be {text}", hint=f"{least}, up to {MOST:,.0f} {_UNITS[what]}")
    return value


def _is(what: Kind) -> str:
    return "are" if what is Kind.INTERRUPTIONS else "is"


_FORMS = {Kind.PRICE: "dollars an hour, like 0.42", Kind.INTERRUPTIONS: "how many an hour, like 0.05"}
"""The way in which values are written that are no times."""
_UNITS = dict.fromkeys(Kind, "hours") | {Kind.PRICE: "dollars an hour", Kind.INTERRUPTIONS: "an hour"}
MOST = 10_000.0
"""The most hours, dollars an hour, or times an hour that a pin may say."""


def _figure(row: LearnedRow, value: float | None) -> str | None:
    """Return a figure as its kind is read; None if there is none."""
    if value is None:
        return None
    if row.what.value == Kind.PRICE:
        return f"{formatting.money(value)}/h"
    return f"{value:.3g}/h" if row.what.value == Kind.INTERRUPTIONS else formatting.hours(value)


def _rests_on(row: LearnedRow) -> str | None:
    if not row.counted_in:
        return None
    refused = f", {row.refused:.0%} refused" if row.refused else ""
    return f"{row.rests_on:,.4g} {row.counted_in}{refused}"


def _pinned(row: LearnedRow) -> str | None:
    return f"{row.pinned_by}, {row.pinned_at:%Y-%m-%d}" if row.pinned_at else None


COLUMNS: tuple[Column[LearnedRow], ...] = (
    Column("what", lambda row: row.what.value),
    Column("where", lambda row: f"{row.place} of {row.workload}" if row.workload else row.place),
    Column("value", lambda row: _figure(row, row.value), right=True),
    Column("prior", lambda row: _figure(row, row.prior), title="before", right=True),
    Column("seen", lambda row: _figure(row, row.seen), right=True),
    Column("rests_on", _rests_on, title="rests on"),
    Column("weight", lambda row: row.weight, "{:.0%}".format, right=True),
    Column("pinned", _pinned, title="pinned by"),
)
