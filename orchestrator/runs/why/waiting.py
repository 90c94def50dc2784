"""What tasks wait for that have no launcher yet: quotas, and who holds them; or Batch itself."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select

from orchestrator.db.engine import reading
from orchestrator.db.tables import leases
from orchestrator.plan.slots import lots_by_key
from orchestrator.wire.names import resource_name
from orchestrator.wire.task import Quota

if TYPE_CHECKING:
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.ledger import Ledger, Sent
    from orchestrator.runs.written.anchor import Anchor

WAITING = ("SUBMITTED", "PENDING", "RUNNABLE", "STARTING")


@dataclass(frozen=True)
class Waiting:
    """Tasks of one array that have no launcher yet."""

    tasks: int
    array: str
    since: float
    """Seconds since the epoch at which they were submitted."""
    runnable: int
    """Tasks that wait for nothing but room: for slots, or for machines of the compute environment."""
    quotas: tuple[QuotaUse, ...]
    """What each of them waits for; nothing if the array waits for no slots."""
    running: int
    """Launchers of the same array that run."""
    reason: str = ""
    """Batch's own words, if it has any."""


@dataclass(frozen=True)
class QuotaUse:
    """A quota that tasks wait for: what of it is in use, and by whom."""

    quota: str
    region: str
    needs: int
    """The units that one task needs."""
    units: int
    in_use: int | None
    """Units that jobs hold now, as Batch counts them; None where Batch has no count of it."""
    holders: dict[str, int]
    """Units by run, as this database has written them down."""

    def __str__(self) -> str:
        """Return `4 of 4 units of ml.g5.xlarge/spot in us-east-1 are in use (held by nightly: 4)`."""
        used = "an unknown number" if self.in_use is None else str(self.in_use)
        held = ", ".join(f"{run}: {units}" for run, units in sorted(self.holders.items()))
        by = f" (held by {held})" if held else ""
        what = f"{used} of {self.units} units of {self.quota} in {self.region} are in use"
        return f"{what}{by}, each task needs {self.needs}"


def find_waiting(anchor: Anchor, sent: list[Sent], ledger: Ledger, cloud: Cloud, since: float) -> list[Waiting]:
    """Return the arrays of a submission that have tasks without a launcher."""
    jobs = {job.id: job for job in cloud.batch.describe([one.job for one in sent if one.job])}
    found = []
    for one in sent:
        job = jobs.get(one.job or "")
        if job is None:
            continue
        counts = job.counts or {job.status: 1}
        waiting = sum(counts.get(status, 0) for status in WAITING)
        if waiting:
            quotas = _quotas(anchor, one, ledger, cloud)
            runnable, running = counts.get("RUNNABLE", 0), counts.get("RUNNING", 0)
            found.append(Waiting(waiting, one.array.name, since, runnable, quotas, running, job.reason))
    return found


def _quotas(anchor: Anchor, one: Sent, ledger: Ledger, cloud: Cloud) -> tuple[QuotaUse, ...]:
    lot = lots_by_key(anchor.plan).get(one.array.lot) if one.array.lot else None
    needs = {quota: units * one.array.instances for quota, units in lot.quotas.items()} if lot else {}
    known = {fact.quota: fact.units for fact in anchor.plan.quotas if fact.quota in needs}
    held = _holders(ledger)
    uses = []
    for quota, units in known.items():
        now = cloud.batch.resource_use(resource_name(quota))
        total, in_use = (now.total, now.in_use) if now else (units, None)
        uses.append(QuotaUse(quota.name, quota.region, needs[quota], total, in_use, held.get(quota, {})))
    return tuple(uses)


def _holders(ledger: Ledger) -> dict[Quota, dict[str, int]]:
    query = select(leases.c.platform, leases.c.region, leases.c.quota, leases.c.run, leases.c.units)
    held: defaultdict[Quota, dict[str, int]] = defaultdict(dict)
    with reading(ledger.engine) as connection:
        for platform, region, quota, run, units in connection.execute(query):
            held[Quota(platform, region, quota)][run] = units
    return held
