"""`sweep reap`: trainings that nobody waits for, and what such have left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import formatting, render
from orchestrator.cli.confirm import confirm
from orchestrator.cli.options import AsJson, Yes
from orchestrator.cli.render import Column
from orchestrator.cli.session import Session
from orchestrator.errors import PartlyFailed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from orchestrator.api import Search, Stray, StrayArray, StrayLeftover

_NAMED = 3
"""Regions that could not be asked and are named one by one, at most."""


def reap(
    context: typer.Context,
    stop: Annotated[
        bool, typer.Option("--stop", help="Ask all of them to stop, and remove what is left. Asks first.")
    ] = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Find trainings, Batch arrays and leftovers of ours, in any Region, that belong to no live run.

    They cost money, and nobody will look at what they make. Leftovers are volumes, network interfaces,
    placement groups and spot requests of EC2 instances that are gone. What another control bucket's run
    has started is left alone. It ends with 5 if a Region could not be asked.

    Example: sweep reap --stop
    """
    orchestrator = Session.of(context).orchestrator
    found = orchestrator.reap()
    named = [f"{one.training} in {one.region}" for one in found.strays]
    named += [f"the array {one.array}" for one in found.arrays]
    left = [f"the {one.kind} {one.id}" for one in found.leftovers]
    if stop and (named or left):
        asked = [*_listed("stop", named), *_listed("remove", left)]
        question = ", and ".join(asked)
        confirm(f"{question[0].upper()}{question[1:]}?", yes=yes)
        found = orchestrator.reap(stop=True)
    if as_json:
        render.as_json(found)
    else:
        _show(found)
    if found.unseen:
        raise PartlyFailed(_unseen(found.unseen), hint="what runs there for nobody is not known")


def _listed(verb: str, names: Sequence[str]) -> Iterator[str]:
    """Yield what is to happen to these, the first few by their names; nothing if there is none."""
    if names:
        more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
        yield f"{verb} {', '.join(names[:5])}{more}"


def _show(found: Search) -> None:
    if found.strays:
        render.as_table(found.strays, COLUMNS)
        render.line()
    if found.arrays:
        render.as_table(found.arrays, ARRAY_COLUMNS)
        render.line()
    if found.leftovers:
        render.as_table(found.leftovers, LEFTOVER_COLUMNS)
        render.line()
    render.line(_summary(found))


def _unseen(unseen: Mapping[str, str]) -> str:
    """Return in a few words which Regions could not be asked, with the reason of one for all."""
    if len(unseen) <= _NAMED:
        return f"not looked at: {'; '.join(f'{region}: {why}' for region, why in sorted(unseen.items()))}"
    first, why = min(unseen.items())
    return f"not looked at: {len(unseen):,} Regions, such as {first}: {why}; --json names all"


def _summary(found: Search) -> str:
    """Return in one line what was found, and where."""
    what = f"{formatting.plural(len(found.strays), 'training')} that nobody waits for"
    cost = sum(one.usd or 0.0 for one in found.strays)
    per_hour = sum(one.usd_per_hour or 0.0 for one in found.strays)
    unknown = sum(one.usd is None for one in found.strays)
    parts = [f"{what}, in {formatting.plural(found.looked_in, 'Region')}"]
    if found.strays:
        parts.append(f"about {formatting.money(cost)} so far, {formatting.money(per_hour)} an hour")
    if found.arrays:
        parts.append(formatting.plural(len(found.arrays), "array"))
    if found.leftovers:
        parts.append(formatting.plural(len(found.leftovers), "leftover"))
    if unknown:
        parts.append(f"{unknown:,} of unknown price")
    if found.others:
        parts.append(f"{found.others:,} of other control buckets left alone")
    return "; ".join(parts)


COLUMNS: tuple[Column[Stray], ...] = (
    Column("training", lambda one: one.training),
    Column("platform", lambda one: one.platform, if_varied=True),
    Column("region", lambda one: one.region, title="Region"),
    Column("instance_type", lambda one: one.instance_type),
    Column("purchase", lambda one: one.purchase, optional=True),
    Column("seconds", lambda one: one.seconds, formatting.duration, title="time", right=True),
    Column("usd", lambda one: one.usd, formatting.money, title="cost", right=True, is_estimate=lambda _: True),
    Column("why", lambda one: one.why),
    Column("stopped", lambda one: one.stopped, lambda stopped: "asked to stop" if stopped else ""),
)

ARRAY_COLUMNS: tuple[Column[StrayArray], ...] = (
    Column("array", lambda one: one.array),
    Column("queue", lambda one: one.queue),
    Column("running", lambda one: one.running, "{:,}".format, right=True),
    Column("waiting", lambda one: one.waiting, "{:,}".format, right=True),
    Column("why", lambda one: one.why),
    Column("stopped", lambda one: one.stopped, lambda stopped: "asked to stop" if stopped else ""),
)

LEFTOVER_COLUMNS: tuple[Column[StrayLeftover], ...] = (
    Column("kind", lambda one: one.kind, title="leftover"),
    Column("id", lambda one: one.id),
    Column("region", lambda one: one.region, title="Region"),
    Column("training", lambda one: one.training),
    Column("why", lambda one: one.why),
    Column("removed", lambda one: one.removed, lambda removed: "removed" if removed else ""),
)
