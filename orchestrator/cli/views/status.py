"""The status of a run as commands show it: in one line, by Region, as JSON, and as an exit code."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from orchestrator.cli import formatting
from orchestrator.cli.render import Column
from orchestrator.cli.views.limit_words import EVERYTHING
from orchestrator.cli.views.pause_words import after_pause
from orchestrator.errors import PartlyFailed, RunFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.api import Outlook, Status, TaskState

STATES = ("running", "starting", "pending", "done", "failed", "cancelled")


@dataclass(frozen=True)
class StatusView:
    """A run's status. Its fields are those of the JSON."""

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
    """An estimate of what the running trainings have cost beside that. It always grows, so it is no change."""
    outlook: Outlook | None = field(default=None, compare=False)
    """What is expected of the run; None once it has ended."""
    paused: str = ""
    """Why no more tasks are begun; empty if they are."""
    moving: int = 0
    """Running tasks whose checkpoint is brought to where they go on."""
    waiting: int = 0
    """Running tasks whose machines were taken away, and that wait for others."""
    limit: dict[str, int] = field(default_factory=dict)
    """Instances at once, by Region or lane, or `all`; empty if it is not limited."""

    @classmethod
    def of(cls, status: Status) -> StatusView:
        """Return how the commands show this status."""
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
            outlook=status.outlook,
            paused=status.paused,
            moving=status.moving,
            waiting=status.waiting,
            limit={what or EVERYTHING: slots for what, slots in status.limit.items()},
        )

    @property
    def ended(self) -> int:
        """The number of tasks that have ended, however they did."""
        return sum(self.counts[state] for state in ("done", "failed", "cancelled"))

    def __str__(self) -> str:
        """Return one line: `nightly: 12/24 done, 3 running, 9 pending, $0.12 and about $0.03 running`."""
        others = [self._counted(state) for state in STATES if state != "done" and self.counts[state]]
        cost = formatting.money(self.usd)
        if self.running_usd:
            cost += f" and about {formatting.money(self.running_usd)} running"
        if self.paused:
            others.append("paused")
        parts = [f"{self.counts['done']:,}/{self.tasks:,} done", *others, cost]
        return f"{self.run}: {', '.join(parts)}"

    def _counted(self, state: str) -> str:
        """Return `3 running`; or `3 running (1 moving, 1 waiting for machines)`, for nothing trains there just now."""
        words = f"{self.counts[state]:,} {state}"
        idle = {"moving": self.moving, "waiting for machines": self.waiting} if state == "running" else {}
        named = [f"{count:,} {what}" for what, count in idle.items() if count]
        return f"{words} ({', '.join(named)})" if named else words


def outlook_line(view: StatusView) -> str:
    """Return one line: `$1.21 an hour now; about $4.80 in all by 14:35, at most $6.00`.

    It is empty once the run has ended.
    """
    outlook = view.outlook
    if outlook is None:
        return ""
    now = datetime.now().astimezone()
    end = max(datetime.fromtimestamp(outlook.ends_at).astimezone(), now)
    unpriced = f", but for {formatting.plural(outlook.unpriced, 'task')} of unknown price" if outlook.unpriced else ""
    if_lifted = " if the limit of 0 is lifted now" if 0 in view.limit.values() else ""
    return (
        f"{formatting.money(outlook.usd_per_hour)} an hour now{unpriced}; about {formatting.money(outlook.usd)} in all "
        f"by {formatting.future_time(end, now)}{if_lifted}, at most {formatting.money(outlook.most_usd)}"
    )


def _by_name(counts: Mapping[TaskState, int]) -> dict[str, int]:
    known = {state.value: count for state, count in counts.items()}
    return {state: known.get(state, 0) for state in STATES}


def raise_unless_done(view: StatusView) -> None:
    """Raise RunFailed or PartlyFailed, and with it an exit code, if a run that has ended is not done."""
    run, failed = view.run, view.counts["failed"]
    if view.state == "done":
        return
    if view.state == "paused":
        left = formatting.plural(view.counts["cancelled"], "task")
        raise PartlyFailed(f"{left} not run; {view.paused}", where=run, hint=after_pause(run))
    if view.state == "cancelled":
        raise RunFailed("was cancelled", where=run, hint=f"`sweep retry {run}` runs what is not done")
    error = PartlyFailed if view.state == "partly_failed" else RunFailed
    hint = f"`sweep results {run}` says why, `sweep retry {run}` runs what is not done again"
    raise error(f"{failed:,} of {formatting.plural(view.tasks, 'task')} failed", where=run, hint=hint)


@dataclass(frozen=True)
class RegionLine:
    """The tasks of a run in one Region, counted by state."""

    region: str
    counts: dict[str, int]


REGION_COLUMNS: tuple[Column[RegionLine], ...] = (
    Column("region", lambda line: line.region, title="Region"),
    *(
        Column(state, lambda line, state=state: line.counts[state], "{:,}".format, right=True)  # type: ignore[misc]
        for state in STATES
    ),
)


def region_lines(view: StatusView) -> list[RegionLine]:
    """Return a line for each Region of the run."""
    return [RegionLine(region, counts) for region, counts in view.regions.items()]
