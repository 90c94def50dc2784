"""`sweep quotas`: how much there may be of what, what is used of it, and how to ask for more."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import formatting, render
from orchestrator.cli.options import AsJson
from orchestrator.cli.placing import placing
from orchestrator.cli.render import Column
from orchestrator.cli.session import Session
from orchestrator.errors import CatalogError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.api import Quota, QuotaUse


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
    one_more_saves: float | None = None
    """Dollars that slots for one more training would save a sweep; null where nobody has worked it out."""

    @classmethod
    def of(cls, use: QuotaUse, saves: float | None = None) -> QuotaRow:
        """Return the row of a quota."""
        quota = use.quota
        return cls(quota.platform, quota.region, quota.name, use.units, use.used, use.held, use.free, use.code, saves)


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
    sweep_file: Annotated[
        Path | None,
        typer.Option(
            "--for",
            metavar="SWEEP",
            help="Only those that this sweep's plan leaves no room in, and what one more slot saves.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show how many instances, or other units, each quota allows, and what is used of it.

    It reads the catalog: `sweep catalog refresh` brings AWS's quotas into it, and what the whole account uses. What our
    live runs may use is held. What neither is used nor held is free.

    With --for, the sweep is planned, and planned again with a slot more of each quota that is full, of the 20 that hold
    most; of a large sweep, three. So a figure is the difference of two plans.

    Example: sweep quotas ml.g5 --region eu-west-1 --raise-to 8
    """
    session = Session.of(context)
    known = session.orchestrator.catalog.quota_use()
    found = [
        use
        for use in known
        if (not region or use.quota.region in region) and all(name in use.quota.name for name in names or ())
    ]
    if not found:
        raise CatalogError(
            "the catalog has no such quota", hint=f"it has {len(known)}; `sweep catalog refresh` brings AWS's"
        )
    savings = {} if sweep_file is None else _savings(session, sweep_file)
    if sweep_file is not None:
        found = [use for use in found if use.quota in savings]
    if raise_to is not None:
        _show_requests(found, raise_to, as_json=as_json)
        return
    rows = [QuotaRow.of(use, savings.get(use.quota)) for use in found]
    rows.sort(key=lambda row: -(row.one_more_saves or 0.0))
    if sweep_file is not None and not rows:
        render.say("the plan leaves room in each of these quotas: more of them would save nothing")
    if as_json:
        render.as_json(rows)
    else:
        render.as_table(rows, COLUMNS if sweep_file is None else (*COLUMNS, SAVES))
        if full := sum(not row.free and row.code is not None for row in rows):
            render.say(f"{formatting.plural(full, 'quota')} without any free: --raise-to prints how to ask for more")


def _savings(session: Session, file: Path) -> dict[Quota, float | None]:
    """Return the quotas that the cheapest plan of a sweep leaves no room in, with what one more slot would save."""
    with placing(file):
        plan = session.orchestrator.plan(session.warmed(session.read_sweep(file)))
    return session.orchestrator.savings(plan)


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
SAVES = Column[QuotaRow]("one_more_saves", lambda row: row.one_more_saves, "${:,.2f}".format, right=True)
