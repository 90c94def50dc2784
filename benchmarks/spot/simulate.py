"""What a job costs under a policy on a trace, and when it ends. The accounting is honest:

- every tick is paid at the price of the zone that runs, in that tick; its last part only as far as it is used;
- every start pays the restart, in the same zone as well as in another: hours that are billed, and nothing is done;
- a move to another Region pays for the checkpoint's copy, and waits for it;
- what runs when a zone closes is gone from that tick on; what was done since the newest checkpoint is lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.spot.traces import Trace

ALMOST = 1e-9
ON_DEMAND = -1
"""The number that stands for machines on demand; zones count from 0."""


@dataclass(frozen=True)
class Job:
    """A job, and what it may cost in time."""

    work: float = 48.0
    """Hours that it runs if nothing interrupts it."""
    deadline: float = 60.0
    restart: float = 0.2
    """Hours from a start until it is at work."""
    checkpoint: float = 0.0
    """Hours between two checkpoints; 0 if nothing is ever lost."""
    copy_usd: float = 0.0
    copy_hours: float = 0.0
    """What a checkpoint's copy to another Region costs, and how long it takes."""


@dataclass(frozen=True)
class Seen:
    """What a policy sees at the beginning of a tick."""

    is_open: tuple[bool, ...]
    usd_per_hour: tuple[float, ...]
    at: int | None
    """The zone that runs, or ON_DEMAND; None while nothing does."""
    region: str
    """Where the newest checkpoint lies; empty before the first start."""
    work: float
    """Hours of work left, if nothing that runs is lost."""
    left: float
    """Hours until the deadline."""
    starting: float
    """Hours until what runs is at work."""


class Policy(Protocol):
    """Whoever says where the job runs, tick by tick."""

    def step(self, seen: Seen) -> int | None:
        """Return the zone to run in from now on, ON_DEMAND, or None to run nothing. A closed zone gives nothing."""


@dataclass(frozen=True)
class Ended:
    """How a job went."""

    usd: float
    hours: float
    starts: int
    done: bool
    """It was done by its deadline."""


class Play:
    """One job on one trace."""

    def __init__(self, trace: Trace, job: Job) -> None:
        self.trace = trace
        self.job = job
        self.at: int | None = None
        self.region = ""
        self.starting = 0.0
        self.work = job.work
        self.unsaved = 0.0
        """Hours of work done since the newest checkpoint."""
        self.usd = 0.0
        self.starts = 0

    def run(self, policy: Policy) -> Ended:
        """Play the policy to the end of the work, or of the time."""
        tick = self.trace.tick_hours
        ticks = min(int(self.job.deadline / tick + ALMOST), self.trace.ticks)
        for number in range(ticks):
            is_open = tuple(zone.is_open[number] for zone in self.trace.zones)
            prices = tuple(zone.usd_per_hour[number] for zone in self.trace.zones)
            if self.at not in (None, ON_DEMAND) and not is_open[self.at or 0]:
                self._stop()
            left = self.job.deadline - number * tick
            chosen = policy.step(Seen(is_open, prices, self.at, self.region, self.work, left, self.starting))
            self._go(chosen, is_open)
            used = self._run_tick(tick, prices)
            if self.work <= ALMOST:
                return Ended(self.usd, number * tick + used, self.starts, done=True)
        return Ended(self.usd, ticks * tick, self.starts, done=False)

    def _stop(self) -> None:
        self.work += self.unsaved
        self.unsaved, self.at = 0.0, None

    def _go(self, chosen: int | None, is_open: tuple[bool, ...]) -> None:
        """Run there from now on. A move that is asked for saves a checkpoint first; a closed zone is no place."""
        if chosen == self.at:
            return
        self.unsaved, self.at = 0.0, None
        if chosen is None or (chosen != ON_DEMAND and not is_open[chosen]):
            return
        region = self.region if chosen == ON_DEMAND and self.region else self.trace.zones[chosen].region
        self.starting = self.job.restart
        if self.region and region != self.region:
            self.starting += self.job.copy_hours
            self.usd += self.job.copy_usd
        self.at, self.region = chosen, region
        self.starts += 1

    def _run_tick(self, tick: float, prices: tuple[float, ...]) -> float:
        """Run for a tick, and return the hours of it that were used."""
        if self.at is None:
            return tick
        price = self.trace.on_demand_usd_per_hour if self.at == ON_DEMAND else prices[self.at]
        idle = min(self.starting, tick)
        done = min(tick - idle, self.work)
        self.starting -= idle
        self.work -= done
        used = tick if self.work > ALMOST else idle + done
        self.usd += price * used
        self.unsaved = (self.unsaved + done) % self.job.checkpoint if self.job.checkpoint else 0.0
        return used


def simulate(trace: Trace, job: Job, make: Callable[[Trace, Job], Policy]) -> Ended:
    """Return how the job ends on this trace under a policy made for it."""
    return Play(trace, job).run(make(trace, job))
