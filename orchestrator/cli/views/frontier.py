"""`sweep plan --frontier`: plans from the cheapest to the fastest, as a table and a picture."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator import files
from orchestrator.cli import formatting, render
from orchestrator.cli.render import Column
from orchestrator.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.api import Plan


@dataclass(frozen=True)
class PlanPoint:
    """One of the plans, as it is shown."""

    finished_h: float
    usd: float
    hours: float
    lanes: int


COLUMNS: tuple[Column[PlanPoint], ...] = (
    Column("finished_h", lambda point: point.finished_h, formatting.hours, title="done in", right=True),
    Column("usd", lambda point: point.usd, formatting.money, title="$", right=True),
    Column("hours", lambda point: point.hours, formatting.hours, title="machine time", right=True),
    Column("lanes", lambda point: point.lanes, str, right=True),
)


def check_picture(picture: Path | None, option: str, example: str, *, force: bool) -> None:
    """Raise UsageError if this picture could not be drawn: only .svg and .png files are, and over none of others."""
    if picture is None:
        return
    if picture.suffix not in (".svg", ".png"):
        raise UsageError(f"{picture} is neither a .svg nor a .png file", where=option, hint=f"name it {example}")
    files.check_replaceable(picture, files.is_picture, "picture of ours", force=force)


def show_frontier(plans: list[Plan], picture: Path | None, *, as_json: bool) -> None:
    """Print the plans, and draw them into a file if one is named."""
    from orchestrator.api import draw_frontier

    points = []
    for plan in plans:
        lanes = {share.places[0].lane for share in plan.shares}
        points.append(PlanPoint(plan.finish, plan.usd, plan.hours, len(lanes)))
    if picture is not None:
        files.write(picture, draw_frontier(plans, picture.suffix[1:]))
        render.say(f"wrote {picture}")
    if as_json:
        render.as_json(points)
    else:
        render.as_table(points, COLUMNS, sys.stdout)
