"""`sweep quotas`: how much there may be of what, what is used of it, and how to ask for more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import formatting, render
from orchestrator.cli.options import AsJson
from orchestrator.cli.render import Column
from orchestrator.cli.session import Session
from orchestrator.errors import CatalogError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.api import QuotaUse


@dataclass(frozen=True)
class QuotaRow:
    """A quota, as JSON shows it."""

    platform: str
    region: str
    quota: str
    units: int
    used: int | None
    """What the whole account used when AWS was last asked; null if it was not."""
    held: int
    free: int
    code: str | None
    """The service and the code by which AWS is asked to raise it."""

    @classmethod
    def of(cls, use: QuotaUse) -> QuotaRow:
        """Return the row of a quota."""
        quota = use.quota
        return cls(quota.platform, quota.region, quota.name, use.units, use.used, use.held, use.free, use.code)


def quotas(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Only quotas with this in their name, such as ml.g5 or spot."),
    ] = None,
    region: Annotated[
        list[str] | None, typer.Option(metavar="REGION", help="Only this Region. Repeatable.", show_default=False)
    ] = None,
    raise_to: Annotated[
        int | None, typer.Option(metavar="UNITS", min=1, help="Print the commands that ask AWS for so many of each.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show how many instances, or other units, each quota allows, and what is used of it.

    It reads the catalog: `sweep catalog refresh` brings AWS's quotas into it, and what the whole account uses. What our
    live runs may use is held. What neither is used nor held is free.

    Example: sweep quotas ml.g5 --region eu-west-1 --raise-to 8
    """
    known = Session.of(context).orchestrator.catalog.quota_use()
    found = [
        use
        for use in known
        if (not region or use.quota.region in region) and all(name in use.quota.name for name in names or ())
    ]
    if not found:
        raise CatalogError(
            "the catalog has no such quota", hint=f"it has {len(known)}; `sweep catalog refresh` brings AWS's"
        )
    if raise_to is not None:
        _show_requests(found, raise_to, as_json=as_json)
        return
    rows = [QuotaRow.of(use) for use in found]
    if as_json:
        render.as_json(rows)
    else:
        render.as_table(rows, COLUMNS)
        if full := sum(not row.free and row.code is not None for row in rows):
            render.say(f"{formatting.plural(full, 'quota')} without any free: --raise-to prints how to ask for more")


@dataclass(frozen=True)
class RaiseRequest:
    """The command that asks AWS for more of a quota, as JSON shows it."""

    region: str
    quota: str
    command: str


def _show_requests(found: Sequence[QuotaUse], units: int, *, as_json: bool) -> None:
    """Show the commands that ask AWS for so many units of each of these quotas that has fewer."""
    fewer = [use for use in found if use.units < units]
    asked = [
        RaiseRequest(use.quota.region, use.quota.name, command) for use in fewer if (command := use.request_for(units))
    ]
    if not asked:
        why = "AWS does not raise them, or `sweep catalog refresh` has not told how" if fewer else "ask for more"
        raise CatalogError(f"there is no quota below {units} to raise among these {len(found)}", hint=why)
    if as_json:
        render.as_json(asked)
    else:
        for one in asked:
            render.line(one.command)
    if left := len(fewer) - len(asked):
        render.say(f"warning: {formatting.plural(left, 'quota')} left out: nobody knows how AWS is asked to raise them")


COLUMNS: tuple[Column[QuotaRow], ...] = (
    Column("platform", lambda row: row.platform, if_varied=True),
    Column("region", lambda row: row.region, title="Region"),
    Column("quota", lambda row: row.quota),
    Column("units", lambda row: row.units, "{:,}".format, right=True),
    Column("used", lambda row: row.used, "{:,}".format, title="used by all", right=True, optional=True),
    Column("held", lambda row: row.held, "{:,}".format, title="held by us", right=True),
    Column("free", lambda row: row.free, "{:,}".format, right=True),
)
