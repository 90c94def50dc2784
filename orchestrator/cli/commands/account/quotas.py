"""`sweep quotas`: how much there may be of what, and what live runs hold of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import render
from orchestrator.cli.options import AsJson
from orchestrator.cli.render import Column
from orchestrator.cli.session import Session
from orchestrator.errors import CatalogError

if TYPE_CHECKING:
    from orchestrator.api import QuotaUse


@dataclass(frozen=True)
class QuotaRow:
    """A quota, as JSON shows it."""

    platform: str
    region: str
    quota: str
    units: int
    held: int
    free: int

    @classmethod
    def of(cls, use: QuotaUse) -> QuotaRow:
        """Return the row of a quota."""
        quota = use.quota
        return cls(quota.platform, quota.region, quota.name, use.units, use.held, use.free)


def quotas(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Only quotas with this in their name, such as ml.g5 or spot."),
    ] = None,
    region: Annotated[
        list[str] | None, typer.Option(metavar="REGION", help="Only this Region. Repeatable.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show how many instances, or other units, each quota allows, and how many our live runs hold.

    It reads the catalog: `sweep catalog refresh` brings AWS's quotas into it. What others of the account use is not
    known here: AWS then refuses, and tasks wait.

    Example: sweep quotas ml.g5 --region eu-west-1
    """
    known = [QuotaRow.of(use) for use in Session.of(context).orchestrator.catalog.quota_use()]
    rows = [
        row for row in known if (not region or row.region in region) and all(name in row.quota for name in names or ())
    ]
    if not rows:
        raise CatalogError(
            "the catalog has no such quota", hint=f"it has {len(known)}; `sweep catalog refresh` brings AWS's"
        )
    if as_json:
        render.as_json(rows)
    else:
        render.as_table(rows, COLUMNS)


COLUMNS: tuple[Column[QuotaRow], ...] = (
    Column("platform", lambda row: row.platform, if_varied=True),
    Column("region", lambda row: row.region, title="Region"),
    Column("quota", lambda row: row.quota),
    Column("units", lambda row: row.units, "{:,}".format, right=True),
    Column("held", lambda row: row.held, "{:,}".format, title="held by us", right=True),
    Column("free", lambda row: row.free, "{:,}".format, right=True),
)
