"""Finds rows of catalog files about lanes that no installed platform has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.catalog.files.cells import is_local
from orchestrator.catalog.files.consistency import RowProblem
from orchestrator.catalog.market import ANY, is_family
from orchestrator.catalog.survey.commitments import LANES, SAVINGS_PLAN
from orchestrator.errors import did_you_mean
from orchestrator.wire.task import Lane, Purchase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.catalog.files.kinds import Columns
    from orchestrator.catalog.platforms import Platforms

_BOUGHT = {**dict.fromkeys(LANES, Purchase.COMMITTED), SAVINGS_PLAN: Purchase.ON_DEMAND}
"""The way in which the instances of a commitment are bought, by its kind."""


def first_lane_problem(columns: Columns, platforms: Platforms) -> tuple[int, RowProblem] | None:
    """Return the first row that is about a lane which its platform has not, by its number, and what is wrong with it.

    Every distinct lane is looked at once: a million prices are about few.
    """
    if "platform" not in columns:
        return None
    platform, region = columns["platform"], columns["region"]
    instance_type = columns.get("instance_type") or [ANY] * len(platform)  # a quota may be known by its name alone
    bought = columns.get("purchase") or columns.get("kind") or [Purchase.SPOT.value] * len(platform)
    keys = list(zip(platform, region, instance_type, bought, strict=True))
    # A platform that only lends its prices counts nothing.
    known = platforms.installed if "quota" in columns else platforms.known
    problems = {key: _unknown(key[0], known) or _refused(*key, platforms) for key in dict.fromkeys(keys)}
    if not any(problems.values()):
        return None
    return next((number, found) for number, key in enumerate(keys) if (found := problems[key]) is not None)


def _unknown(platform: str, known: Sequence[str]) -> RowProblem | None:
    if platform in known:
        return None
    return RowProblem("platform", f"there is no platform {platform!r}", did_you_mean(platform, list(known)))


def _refused(
    platform: str, region: str, instance_type: str | None, bought: str | None, platforms: Platforms
) -> RowProblem | None:
    if instance_type in (None, ANY) or bought in (None, ANY) or region == ANY or is_local(region):
        return None
    if bought == SAVINGS_PLAN and is_family(instance_type or ""):
        return None
    purchase = _BOUGHT.get(str(bought)) or Purchase(bought)
    why = platforms.refuses(Lane(platform, region, str(instance_type), purchase))
    return RowProblem("instance_type", why) if why else None
