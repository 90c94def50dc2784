"""Do the quotas of the platforms, as AWS has them at this moment, bear what the plan takes at once?"""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from orchestrator.errors import AccessDenied, CloudError
from orchestrator.platforms import registry
from orchestrator.platforms.account.finding import QUOTA, Finding, ok, warning, wrong

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orchestrator.infra.doctor.subject import Subject
    from orchestrator.wire.task import Quota

_REFRESH = "sweep catalog refresh"


def quotas(subject: Subject) -> Iterator[Finding]:
    """Yield whether each quota that the plan takes units of has them; nothing where no sweep was named."""
    taken = subject.need.units
    for platform, region in sorted({(quota.platform, quota.region) for quota in taken}):
        try:
            live = _read(subject, platform, region)
        except (AccessDenied, CloudError) as error:
            yield warning("quota", region, f"{platform}'s were not looked at: {error.message}", _REFRESH)
            continue
        ours = {quota: units for quota, units in taken.items() if (quota.platform, quota.region) == (platform, region)}
        for quota in sorted(ours, key=str):
            yield _compared(quota, ours[quota], live)


def _read(subject: Subject, platform: str, region: str) -> dict[str, Mapping[str, Any]]:
    """Return the rows of a platform's quotas in a Region, by their names, as AWS tells them now."""
    feeds = (feed for feed in registry.make_operating(platform).feeds() if feed.kind == "quotas")
    now = datetime.now(timezone.utc)
    return {str(row["quota"]): row for feed in feeds for row in feed.read(subject.clients, region, now).rows}


def _compared(quota: Quota, taken: int, live: Mapping[str, Mapping[str, Any]]) -> Finding:
    row = live.get(quota.name)
    if row is None and quota.name.startswith("*/"):
        return ok("quota", quota.region, f"{quota.name}: AWS tells no such total, and the plan takes {taken:,}")
    if row is None:
        return warning("quota", quota.region, f"{quota.name}: AWS tells none of it now", _REFRESH)
    units = int(row["units"])
    if units >= taken:
        return ok("quota", quota.region, f"{quota.name}: {units:,}, and the plan takes {taken:,}")
    service, _, code = str(row.get("code") or "").partition("/")
    ask = (
        f"aws service-quotas request-service-quota-increase --service-code {service} --quota-code {code} "
        f"--desired-value {taken} --region {quota.region}"
    )
    message = f"{quota.name}: {units:,} now, and the plan takes {taken:,}: the catalog knows an older one"
    return wrong("quota", quota.region, message, ask if code else _REFRESH, QUOTA)
