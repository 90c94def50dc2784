"""`sweep catalog compact`, `snapshot`, `push` and `pull`: the catalog made smaller, and in one file elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import formatting, render
from orchestrator.cli.confirm import confirm
from orchestrator.cli.options import AsJson, AsOf, Yes, moment
from orchestrator.cli.session import Session
from orchestrator.errors import CatalogError

if TYPE_CHECKING:
    from orchestrator.api import CatalogLoss

_NAMED = 5
"""The most datasets that one line names."""


def snapshot(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new SQLite file.")],
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """Write all that a plan is made from into one file: another machine plans from it, without credentials.

    Example: sweep catalog snapshot catalog.db
    """
    _check_new(file)
    rows = Session.of(context).orchestrator.catalog.snapshot(file, moment(as_of))
    if as_json:
        render.as_json(Snapshot(str(file), rows))
    else:
        render.say(f"wrote {file}: {rows:,} rows. `sweep --database sqlite:///{file} plan …` plans from it")


def _check_new(file: Path) -> None:
    if file.exists():
        raise CatalogError("there is such a file already", where=str(file), hint="name a new one")


@dataclass(frozen=True)
class Snapshot:
    """What JSON says of a snapshot."""

    file: str
    rows: int


def push(context: typer.Context, yes: Yes = False, as_json: AsJson = False) -> None:
    """Write the catalog as it is now into the control bucket, as the newest snapshot.

    Nights whose conductor has no shared PostgreSQL plan on it. A catalog that has not changed moves nothing. One that
    lacks datasets of the newest snapshot asks first.

    Example: sweep catalog push
    """
    session = Session.of(context)
    orchestrator = session.orchestrator
    before = orchestrator.snapshots.newest()

    def agree(loss: CatalogLoss) -> None:
        for line in _lost(loss):
            render.say(line)
        confirm("Let nights plan on this catalog instead?", yes=yes)

    pushed = orchestrator.snapshots.push(orchestrator.catalog, session.settings.owner, agree)
    if as_json:
        render.as_json(pushed)
    elif before and before.snapshot == pushed.snapshot:
        render.say(f"the newest snapshot is this very catalog already: {pushed.snapshot[:12]}")
    else:
        render.say(f"pushed {pushed.rows:,} rows: {pushed.snapshot[:12]} is the newest snapshot now")


def _lost(loss: CatalogLoss) -> list[str]:
    """Return what would be gone, a line each."""
    who = f"the newest snapshot, which {loss.there.owner} pushed {formatting.moment(loss.there.pushed_at)}"
    kinds = (("dataset", loss.datasets), ("replica", loss.replicas))
    return [
        f"{who}, has {formatting.plural(len(names), noun)} that this catalog lacks: {_first(names)}"
        for noun, names in kinds
        if names
    ]


def _first(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def pull(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new SQLite file.")],
    as_json: AsJson = False,
) -> None:
    """Write the newest snapshot of the control bucket into a file: what a night would plan on.

    Example: sweep catalog pull catalog.db
    """
    _check_new(file)
    pulled = Session.of(context).orchestrator.snapshots.pull(file)
    if as_json:
        render.as_json(pulled)
    else:
        when = formatting.moment(pulled.pushed_at)
        said = f"wrote {file}: {pulled.rows:,} rows, pushed {when} by {pulled.owner}"
        render.say(f"{said}. `sweep --database sqlite:///{file} plan …` plans from it")


def compact(
    context: typer.Context,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go, and remove nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make the history of prices, quotas and interruptions smaller.

    All of the last 7 days stays. Of the four weeks before, the last observation of each day stays, and of older weeks
    the last of each week. What the plans of runs were made from stays, too.

    Example: sweep catalog compact --dry-run
    """
    done = Session.of(context).orchestrator.catalog.compact(dry_run=dry_run)
    if as_json:
        render.as_json(done)
        return
    went = "would go" if dry_run else "went"
    render.say(f"{formatting.plural(done.removed, 'observation')} {went}, and {done.kept:,} stay")
    if not dry_run:
        sizes = (formatting.size(done.bytes_before), formatting.size(done.bytes_after))
        render.say(f"the database had {sizes[0]}, and has {sizes[1]}")
