"""How a run stands: in one line, by Region, as JSON, and as an exit code."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orchestrator.cli import values
from orchestrator.cli.render import Column
from orchestrator.errors import PartlyFailed, RunFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.api import Status, TaskState

STATES = ("running", "starting", "pending", "done", "failed", "cancelled")


@dataclass(frozen=True)
class Standing:
    run: str
    created_at: float
    state: str
    finished: bool
    cancelled: bool
    tasks: int
    counts: dict[str, int]
    regions: dict[str, dict[str, int]]
    usd: float
    running_usd: float = field(default=0.0, compare=False)
    """About what the running trainings have cost beside that. It always grows, so it is no change."""

    @classmethod
    def of(cls, status: Status) -> Standing:
        return cls(
            run=status.run,
            created_at=status.created_at,
            state=status.state,
            finished=status.finished,
            cancelled=status.cancelled,
            tasks=status.tasks,
            counts=_by_name(status.counts),
            regions={region: _by_name(counts) for region, counts in sorted(status.regions.items())},
            usd=status.usd,
            running_usd=status.running_usd,
        )

    @property
    def ended(self) -> int:
        return sum(self.counts[state] for state in ("done", "failed", "cancelled"))

    def __str__(self) -> str:
        """`nightly: 12/24 done, 3 running, 9 pending, $0.12 and about $0.03 running`"""
        rest = [f"{self.counts[state]:,} {state}" for state in STATES if state != "done" and self.counts[state]]
        running = f" and about {values.money(self.running_usd)} running" if self.running_usd else ""
        parts = [f"{self.counts['done']:,}/{self.tasks:,} done", *rest, values.money(self.usd) + running]
        return f"{self.run}: {', '.join(parts)}"


def _by_name(counts: Mapping[TaskState, int]) -> dict[str, int]:
    known = {state.value: count for state, count in counts.items()}
    return {state: known.get(state, 0) for state in STATES}


def verdict(standing: Standing) -> None:
    """Nothing for a run that is done; for any other its error, and with that its exit code."""
    run, failed = standing.run, standing.counts["failed"]
    if standing.state == "done":
        return
    if standing.state == "cancelled":
        raise RunFailed("was cancelled", where=run, hint=f"`sweep retry {run}` runs what is not done")
    error = PartlyFailed if standing.state == "partly_failed" else RunFailed
    hint = f"`sweep results {run}` says why, `sweep retry {run}` runs what is not done again"
    raise error(f"{failed:,} of {values.plural(standing.tasks, 'task')} failed", where=run, hint=hint)


@dataclass(frozen=True)
class RegionLine:
    region: str
    counts: dict[str, int]


REGION_COLUMNS: tuple[Column[RegionLine], ...] = (
    Column("region", lambda line: line.region, title="Region"),
    *(
        Column(state, lambda line, state=state: line.counts[state], "{:,}".format, right=True)  # type: ignore[misc]
        for state in STATES
    ),
)


def region_lines(standing: Standing) -> list[RegionLine]:
    return [RegionLine(region, counts) for region, counts in standing.regions.items()]
