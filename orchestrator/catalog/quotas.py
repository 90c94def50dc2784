"""The quotas that a sweep's candidates count under: how much there is, what live runs hold, and what lanes use."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import and_, func, select

from orchestrator.catalog.files.to_come import believed
from orchestrator.catalog.market import LEASES, QUOTAS, USES, table
from orchestrator.db.tables import leases, quotas
from orchestrator.db.tables import quota_use as quota_use_table
from orchestrator.wire.task import Lane, Purchase, Quota

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    import pandas as pd
    from sqlalchemy import Connection

    from orchestrator.catalog.platforms import Platforms
    from orchestrator.catalog.survey.commitments import TrainingPlan


def uses_of(candidates: pd.DataFrame, platforms: Platforms) -> pd.DataFrame:
    """Return USES: what one instance of each candidate's lane counts for, as its platform says."""
    keys = candidates[["platform", "region", "instance_type", "purchase", "site"]].fillna({"site": ""})
    rows = []
    for platform, region, instance_type, purchase, site in keys.drop_duplicates().itertuples(index=False, name=None):
        lane = Lane(platform, region, instance_type, Purchase(purchase))
        key = (platform, region, instance_type, purchase, site)
        rows += [(*key, name, units) for name, units in platforms.uses(lane, site).items()]
    return table(sorted(rows), USES)


def known_quotas(
    connection: Connection, uses: pd.DataFrame, plans: Sequence[TrainingPlan], live: pd.DataFrame, now: datetime
) -> pd.DataFrame:
    """Return QUOTAS: the newest units of each quota in `uses` that is known, and what the `live` leases hold of it."""
    units = newest_units(connection, now)
    units |= {Quota(plan.platform, plan.region, plan.site): plan.slots for plan in plans}
    held: dict[Quota, int] = defaultdict(int)
    for _, platform, region, name, count in live.itertuples(index=False, name=None):
        held[Quota(platform, region, name)] += count
    used = _quotas(uses[["platform", "region", "quota"]].drop_duplicates().itertuples(index=False, name=None))
    rows = [(*_key(quota), units[quota], held[quota]) for quota in sorted(used) if quota in units]
    return table(rows, QUOTAS)


def live_leases(connection: Connection, now: datetime) -> pd.DataFrame:
    """Return LEASES: every lease that has not expired."""
    live = select(*(leases.c[name] for name in LEASES)).where(leases.c.expires_at > now.timestamp(), leases.c.units > 0)
    return table(sorted(tuple(row) for row in connection.execute(live)), LEASES)


@dataclass(frozen=True)
class QuotaUse:
    """A quota: how much of it there is, what the account uses of that, and what our live runs may use."""

    quota: Quota
    units: int
    held: int
    used: int | None
    """What everybody in the account used when AWS was last asked, ours included; None if it was not asked."""
    code: str | None = None
    """The service and the code by which AWS is asked to raise it; None if it is not raised, or not AWS's."""

    @property
    def free(self) -> int:
        """The units that nobody used, and that no live run of ours holds: never less than none."""
        return max(0, self.units - max(self.held, self.used or 0))

    def request_for(self, units: int) -> str | None:
        """Return the command that asks AWS for so many units; None if there is nobody to ask."""
        if self.code is None:
            return None
        service, _, code = self.code.partition("/")
        return (
            f"aws service-quotas request-service-quota-increase --service-code {service} --quota-code {code}"
            f" --desired-value {units} --region {self.quota.region}"
        )


def quota_use(connection: Connection, now: datetime) -> list[QuotaUse]:
    """Return all quotas that are known, in the order of their names."""
    held: dict[Quota, int] = defaultdict(int)
    for _, platform, region, name, count in live_leases(connection, now).itertuples(index=False, name=None):
        held[Quota(platform, region, name)] += count
    used = _used(connection)
    asked = {(quota.platform, quota.region) for quota in used}
    return [
        QuotaUse(
            quota,
            units,
            held[quota],
            used.get(quota, 0) if (quota.platform, quota.region) in asked else None,
            code,
        )
        for quota, (units, code) in sorted(_newest(connection, now).items())
    ]


def _used(connection: Connection) -> dict[Quota, int]:
    rows = connection.execute(select(*(quota_use_table.c[name] for name in ("platform", "region", "quota", "used"))))
    return {Quota(*row[:3]): row.used for row in rows}


def newest_units(connection: Connection, now: datetime) -> dict[Quota, int]:
    """Return how much of each quota there is, as it was last observed until now."""
    return {quota: units for quota, (units, _) in _newest(connection, now).items()}


def quota_codes(connection: Connection, now: datetime) -> dict[Quota, str]:
    """Return the service and the code by which AWS is asked to raise each quota, where that is known."""
    return {quota: code for quota, (_, code) in _newest(connection, now).items() if code}


def _newest(connection: Connection, now: datetime) -> dict[Quota, tuple[int, str | None]]:
    """Return the newest observation of each quota: its units, and how AWS is asked to raise it."""
    key = [quotas.c[name] for name in ("platform", "region", "quota")]
    last = func.max(quotas.c.observed_at).label("observed_at")
    newest = select(*key, last).where(believed(quotas, now)).group_by(*key).subquery()
    same = and_(*(newest.c[column.name] == column for column in (*key, quotas.c.observed_at)))
    rows = connection.execute(select(*key, quotas.c.units, quotas.c.code).join_from(quotas, newest, same))
    return {Quota(*row[:3]): (row.units, row.code) for row in rows}


def _quotas(keys: Iterable[tuple[str, str, str]]) -> set[Quota]:
    return {Quota(*key) for key in keys}


def _key(quota: Quota) -> tuple[str, str, str]:
    return quota.platform, quota.region, quota.name
