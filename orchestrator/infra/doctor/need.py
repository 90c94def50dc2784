"""What does a sweep need of the account? Its plan says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.errors import SweepError
from orchestrator.infra.doctor.subject import Data, Need
from orchestrator.plan.slots import instances_taken, tasks_by_lot, units_taken
from orchestrator.platforms import registry
from orchestrator.platforms.account.finding import ok, wrong
from orchestrator.platforms.account.wanted import AtOnce
from orchestrator.wire.names import S3Uri

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.plan.plan import Plan
    from orchestrator.platforms.account.finding import Finding


def need_of(make: Callable[[], Plan], where: str, *, nights: bool = False) -> tuple[Need, Finding]:
    """Return what a sweep needs, and whether it can be planned at all, as today's prices and quotas are known.

    Say whether it is to be trained at nights: no plan tells that.
    """
    try:
        plan = make()
    except SweepError as error:
        code = error.exit_code if error.exit_code in (4, 6) else 1
        return Need(nights=nights), wrong("plan", where, error.message, f"sweep plan {where}", code)
    units = units_taken(plan, tasks_by_lot(plan))
    lanes = frozenset(share.places[0].lane for share in plan.shares)
    need = Need(plan.sweep, at_once(plan), _images(plan), units, nights, lanes, _data(plan))
    return need, ok("plan", where, "every task finds its place")


def at_once(plan: Plan) -> tuple[AtOnce, ...]:
    """Return how many tasks of a plan are under way at once, at the most: as many as its instances bear."""
    tasks = tasks_by_lot(plan)
    taken = instances_taken(plan, tasks)
    return tuple(
        AtOnce(key.lane, min(sum(counts.values()), taken[key] // min(counts)), taken[key])
        for key, counts in tasks.items()
    )


def _images(plan: Plan) -> dict[str, str]:
    """Return the image that the plan trains with in each Region; nothing if it names none, or AWS's own."""
    image = plan.sweep.train.image
    return {region: image for region, _ in _sites(plan)} if image else {}


def _data(plan: Plan) -> frozenset[Data]:
    """Return what trainings read of the team's own: not what the plan copies into the Region's bucket."""
    places = {place for share in plan.shares for place in share.places}
    under_role = {name for name in {place.lane.platform for place in places} if registry.make_operating(name).trusted()}
    return frozenset(
        Data(place.s3_uri, place.lane.region)
        for place in places
        if place.lane.platform in under_role and "{" not in S3Uri.parse(place.s3_uri).bucket
    )


def _sites(plan: Plan) -> list[tuple[str, str]]:
    return sorted({(place.lane.region, place.lane.platform) for share in plan.shares for place in share.places})
