"""Joins places of a plan that one request can ask for, as their platform says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.plan.plan import Plan, Share
    from orchestrator.wire.task import Place


def join_places(plan: Plan, joins: Callable[[Place, Place], bool]) -> Plan:
    """Return the plan with each place joined to the one before it, where one request asks for both.

    `joins` says whether a request of their platform does: it is asked about every two places that come into one
    request. All are in one Region. In a sweep with a budget, a place stays alone that costs more an hour than the first
    of its request, for its price would shorten the time that a task's envelope pays for. So does one with another
    number of instances: it takes another time.
    """
    shares = tuple(_joined(share, joins) for share in plan.shares)
    count = sum(any(place.joined for place in share.places) for share in shares)
    if not count:
        return plan
    note = (
        f"{count} of {len(shares)} shares ask for several places at once: "
        "whichever has machines first is taken, and no patience is spent between them"
    )
    return replace(plan, shares=shares, notes=(*plan.notes, note))


def _joined(share: Share, joins: Callable[[Place, Place], bool]) -> Share:
    request, places = [share.places[0]], [share.places[0]]
    for place in share.places[1:]:
        joined = all(_are_neighbours(one, place) and joins(one, place) for one in request)
        if joined and share.limits.envelope is not None:
            joined = place.hourly_usd <= request[0].hourly_usd and place.instances == request[0].instances
        request = [*request, place] if joined else [place]
        places.append(replace(place, joined=joined))
    return replace(share, places=tuple(places))


def _are_neighbours(place: Place, other: Place) -> bool:
    return (place.lane.platform, place.lane.region) == (other.lane.platform, other.lane.region)
