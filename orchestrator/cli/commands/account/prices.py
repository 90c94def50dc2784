"""`sweep prices`: what instances cost, and have cost in the last month."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator import files
from orchestrator.cli import formatting, render
from orchestrator.cli.options import AsJson, Force
from orchestrator.cli.render import Column
from orchestrator.cli.session import Session
from orchestrator.cli.views.frontier import check_picture
from orchestrator.errors import CatalogError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.api import LanePrices

_BARS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True)
class PriceRow:
    """The price of an instance in a lane, as JSON shows it."""

    platform: str
    region: str
    instance_type: str
    purchase: str
    usd_per_hour: float
    seen_at: datetime
    days: tuple[float | None, ...]
    """What it cost at the end of each of the last 30 days, the newest last; null before it was first observed."""

    @classmethod
    def of(cls, one: LanePrices) -> PriceRow:
        """Return the row of a lane."""
        lane = one.lane
        bought = lane.purchase.value
        return cls(lane.platform, lane.region, lane.instance_type, bought, one.usd_per_hour, one.seen_at, one.days)


def prices(
    context: typer.Context,
    instance_types: Annotated[list[str], typer.Argument(metavar="TYPE...", help="Such as ml.g5.xlarge g5.xlarge.")],
    region: Annotated[
        list[str] | None, typer.Option(metavar="REGION", help="Only this Region. Repeatable.", show_default=False)
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw these days: a .svg or .png file.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Show what instances cost, cheapest first, and how that has changed in the last 30 days.

    It reads the catalog: `sweep catalog refresh` brings AWS's prices into it.

    Example: sweep prices ml.g5.xlarge g5.xlarge --region eu-west-1 --plot prices.svg
    """
    check_picture(plot, "--plot", "prices.svg", force=force)
    from orchestrator.api import draw_prices

    catalog = Session.of(context).orchestrator.catalog
    history = catalog.price_history(instance_types)
    found = [one for one in history if not region or one.lane.region in region]
    rows = [PriceRow.of(one) for one in found]
    if missing := [name for name in instance_types if name not in {row.instance_type for row in rows}]:
        where = f" in {', '.join(region)}" if region else ""
        near = get_close_matches(missing[0], catalog.priced_types(), n=1)
        raise CatalogError(
            f"the catalog has no price of {', '.join(missing)}{where}",
            hint=f"did you mean {near[0]!r}?"
            if near != missing[:1] and near
            else "`sweep catalog refresh` brings AWS's",
        )
    if plot:
        files.write(plot, draw_prices(found, plot.suffix[1:]))
        render.say(f"wrote {plot}")
    if as_json:
        render.as_json(rows)
    else:
        render.as_table(rows, COLUMNS)


def sparkline(days: Sequence[float | None]) -> str:
    """Return a bar for each day, from the least price to the most, and a blank where none is known."""
    known = [usd for usd in days if usd is not None]
    if not known:
        return ""
    least, most = min(known), max(known)
    step = (most - least) / (len(_BARS) - 1)
    bars = (" " if usd is None else _BARS[round((usd - least) / step) if step else 0] for usd in days)
    return "".join(bars)


def _age(row: PriceRow) -> str:
    return f"{formatting.duration((datetime.now(timezone.utc) - row.seen_at).total_seconds())} ago"


COLUMNS: tuple[Column[PriceRow], ...] = (
    Column("platform", lambda row: row.platform, if_varied=True),
    Column("region", lambda row: row.region, title="Region"),
    Column("instance_type", lambda row: row.instance_type),
    Column("purchase", lambda row: row.purchase),
    Column("usd_per_hour", lambda row: row.usd_per_hour, "{:.4f}".format, title="$ an hour", right=True),
    Column("days", lambda row: row.days, sparkline, title="last 30 days", optional=True),
    Column("seen", _age),
)
