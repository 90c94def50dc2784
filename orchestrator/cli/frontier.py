"""`sweep plan --frontier`: what time costs, as a table and a picture."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.cli import files, render, values
from orchestrator.cli.render import Column
from orchestrator.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.api import Plan


@dataclass(frozen=True)
class Point:
    """One plan of several."""

    finished_h: float
    usd: float
    hours: float
    lanes: int


COLUMNS: tuple[Column[Point], ...] = (
    Column("finished_h", lambda point: point.finished_h, values.hours, title="done in", right=True),
    Column("usd", lambda point: point.usd, values.money, title="$", right=True),
    Column("hours", lambda point: point.hours, values.hours, title="machine time", right=True),
    Column("lanes", lambda point: point.lanes, str, right=True),
)


def form(picture: Path | None) -> str:
    """svg or png, by its name."""
    if picture is not None and picture.suffix not in (".svg", ".png"):
        raise UsageError(f"{picture} is neither a .svg nor a .png file", where="--output", hint="name it frontier.svg")
    return picture.suffix[1:] if picture else ""


def show_frontier(plans: list[Plan], picture: Path | None, *, as_json: bool) -> None:
    from orchestrator.api import draw_frontier

    points = [
        Point(plan.finish, plan.usd, plan.hours, len({share.places[0].lane for share in plan.shares})) for plan in plans
    ]
    if picture is not None:
        files.write(picture, draw_frontier(plans, form(picture)))
        render.say(f"wrote {picture}")
    if as_json:
        render.as_json(points)
    else:
        render.as_table(points, COLUMNS, sys.stdout)
