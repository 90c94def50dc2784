"""Policies for spot under a deadline: ours, and its rivals. None of them knows more than what has been seen so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.spot.simulate import ON_DEMAND
from orchestrator.launcher.spot_policy import Chance, Situation, choose

if TYPE_CHECKING:
    from benchmarks.spot.simulate import Job, Seen
    from benchmarks.spot.traces import Trace

_KNOWN_SHARE = 0.7
_KNOWN_HOURS = 6.0
"""The share of time that a zone is taken to be open, and the hours of looking that weigh as much as that prior."""
_KNOWN_OPEN_HOURS = 1.0
"""Hours that a zone is taken to have been open which is open at the first look."""


class Ours:
    """The launcher's policy, with what it would have learned from looking at all zones since the beginning."""

    def __init__(self, trace: Trace, job: Job) -> None:
        self.trace = trace
        self.job = job
        self.open_hours = [_KNOWN_OPEN_HOURS] * len(trace.zones)
        self.open_in_all = [0.0] * len(trace.zones)
        self.closed_hours = 0.0
        self.looked = 0.0

    def step(self, seen: Seen) -> int | None:
        self._learn(seen)
        chances = [self._zone(number, seen) for number in range(len(self.trace.zones))]
        usd = self.trace.on_demand_usd_per_hour
        chances.append(Chance(usd, hours=seen.work, start_hours=self.job.restart, spot=False))
        on_demand = len(chances) - 1
        at = on_demand if seen.at == ON_DEMAND else seen.at
        now = Situation(
            left=seen.left,
            at=at,
            starting=seen.starting if at is not None else 0.0,
            closed_hours=self.closed_hours,
            look=self.trace.tick_hours,
            at_risk=self.job.checkpoint,
        )
        chosen = choose(chances, now)
        return ON_DEMAND if chosen == on_demand else chosen

    def _learn(self, seen: Seen) -> None:
        tick = self.trace.tick_hours
        self.looked += tick
        for number, is_open in enumerate(seen.is_open):
            self.open_hours[number] = self.open_hours[number] + tick if is_open else 0.0
            self.open_in_all[number] += tick if is_open else 0.0
        self.closed_hours = 0.0 if any(seen.is_open) else self.closed_hours + tick

    def _zone(self, number: int, seen: Seen) -> Chance:
        region = self.trace.zones[number].region
        moves = bool(seen.region) and region != seen.region
        known = self.open_in_all[number] + _KNOWN_SHARE * _KNOWN_HOURS
        return Chance(
            seen.usd_per_hour[number],
            hours=seen.work,
            start_hours=self.job.restart + (self.job.copy_hours if moves else 0.0),
            start_usd=self.job.copy_usd if moves else 0.0,
            is_open=seen.is_open[number],
            open_hours=self.open_hours[number],
            share=known / (self.looked + _KNOWN_HOURS),
            group=region,
        )


class UniformProgress:
    """Uniform Progress (NSDI'24), over all zones: stays where it runs, starts where it is cheapest, and runs on demand
    while less is done than is due. For good, once the slack is down to a restart."""

    def __init__(self, trace: Trace, job: Job) -> None:
        self.tick = trace.tick_hours
        self.job = job
        self.for_good = False

    def step(self, seen: Seen) -> int | None:
        restart = self.job.restart + self.job.copy_hours + self.job.checkpoint
        slack = seen.left - seen.work - seen.starting
        runs_on_spot = seen.at not in (None, ON_DEMAND)
        if self.for_good or slack < restart + (1 if runs_on_spot else 2) * self.tick:
            self.for_good = True
            return ON_DEMAND
        if runs_on_spot:
            return seen.at
        if any(seen.is_open) and slack >= 2 * restart + 3 * self.tick:
            return _cheapest(seen)
        return ON_DEMAND if self.is_behind(seen) else None

    def is_behind(self, seen: Seen) -> bool:
        elapsed = self.job.deadline - seen.left
        return self.job.work - seen.work < elapsed * self.job.work / self.job.deadline


class Greedy(UniformProgress):
    """Takes the cheapest spot there is, waits while there is none, and goes on demand at the last moment."""

    def is_behind(self, seen: Seen) -> bool:  # noqa: ARG002 (it never minds)
        return False


class OnDemand:
    """Never takes spot."""

    def __init__(self, trace: Trace, job: Job) -> None:
        pass

    def step(self, seen: Seen) -> int | None:  # noqa: ARG002 (whatever there is)
        return ON_DEMAND


def _cheapest(seen: Seen) -> int:
    return min((n for n, is_open in enumerate(seen.is_open) if is_open), key=lambda n: seen.usd_per_hour[n])
