"""The stacks of an account on a screen: what changes, how they stand, what goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.cli import render
from orchestrator.cli.render import Column

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from orchestrator.images.launcher import Brought
    from orchestrator.infra.fill import Filled
    from orchestrator.infra.stacks.deploy import Planned
    from orchestrator.infra.stacks.destroy import Going
    from orchestrator.infra.stacks.state import StackState


@dataclass(frozen=True)
class ChangeRow:
    """What becomes of one resource, as JSON shows it."""

    region: str
    stack: str
    change: str
    resource: str
    type: str
    name: str
    properties: tuple[str, ...]
    """The names of what changes of it."""


@dataclass(frozen=True)
class Deployed:
    """What a deployment did, as JSON shows it."""

    regions: tuple[str, ...]
    changes: tuple[ChangeRow, ...]
    file: str
    written: Mapping[str, Any]
    kept: Mapping[str, Any]

    @classmethod
    def of(cls, regions: Sequence[str], rows: Sequence[ChangeRow], filled: Filled) -> Deployed:
        """Return what JSON shows of a deployment."""
        return cls(tuple(regions), tuple(rows), str(filled.file), filled.written, filled.kept)


@dataclass(frozen=True)
class StackRow:
    """The state of a stack, as JSON shows it."""

    region: str
    stack: str
    status: str
    version: str
    current: bool
    drifted: tuple[str, ...]
    """The names of resources that somebody has changed or deleted."""
    what_to_do: str
    """What its state means and what mends it; empty for one that is well."""


@dataclass(frozen=True)
class GoingRow:
    """What becomes of a resource as its stack goes, as JSON shows it."""

    region: str
    stack: str
    stays: bool
    type: str
    name: str


def changes_of(planned: Planned) -> Iterator[ChangeRow]:
    """Yield what a deployment would change of a stack."""
    for change in planned.changes:
        what = "Replace" if change.is_replaced else change.action
        wanted = planned.wanted
        yield ChangeRow(
            wanted.region, wanted.name, what.lower(), change.resource, change.type, change.physical, change.properties
        )


def state_of(state: StackState) -> StackRow:
    """Return the row of a stack."""
    drifted = tuple(drift.physical for drift in state.drifts)
    return StackRow(state.region, state.name, state.status, state.version, state.is_current, drifted, state.what_to_do)


def going_of(going: Going) -> Iterator[GoingRow]:
    """Yield what becomes of each resource of a stack that is to go."""
    for stays, resources in ((False, going.gone), (True, going.kept)):
        for each in resources:
            yield GoingRow(going.stack.region, going.stack.name, stays, each.type, each.physical)


def tell_filled(filled: Filled) -> None:
    """Say what was written into the settings, and what was left there that differs."""
    if filled.written:
        render.say(f"{filled.file}: wrote {', '.join(filled.written)}")
    for name, value in filled.kept.items():
        render.say(f"{filled.file}: {name} = {value!r} was left as it is")


def tell_image(brought: Brought) -> str:
    """Say what became of the launcher's image, and return its address."""
    render.say(f"{brought.uri}: {'made' if brought.is_new else 'there already'}")
    if not brought.is_compiled:
        render.say("note: its Python is another one than this, so each launcher compiles its packages when it starts")
    return brought.uri


CHANGE_COLUMNS: tuple[Column[ChangeRow], ...] = (
    Column("region", lambda row: row.region, title="Region"),
    Column("stack", lambda row: row.stack),
    Column("change", lambda row: row.change),
    Column("resource", lambda row: row.resource),
    Column("type", lambda row: row.type.removeprefix("AWS::")),
    Column("properties", lambda row: ", ".join(row.properties), optional=True),
)
STACK_COLUMNS: tuple[Column[StackRow], ...] = (
    Column("region", lambda row: row.region, title="Region"),
    Column("stack", lambda row: row.stack),
    Column("status", lambda row: row.status or "not deployed"),
    Column("version", lambda row: row.version),
    Column("current", lambda row: "as it should be" if row.current else "deploying changes it"),
    Column(
        "drifted", lambda row: len(row.drifted), lambda count: f"{count} changed" if count else "none", title="drift"
    ),
)
GOING_COLUMNS: tuple[Column[GoingRow], ...] = (
    Column("region", lambda row: row.region, title="Region"),
    Column("stack", lambda row: row.stack),
    Column("stays", lambda row: "stays" if row.stays else "goes", title=""),
    Column("type", lambda row: row.type.removeprefix("AWS::")),
    Column("name", lambda row: row.name),
)
