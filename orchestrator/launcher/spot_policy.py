"""Chooses where a task that has a deadline and keeps checkpoints goes on: on spot here, on spot elsewhere, on demand,
or nowhere for a while. Pure: it has no time of its own, no chance, no AWS. The simulator of `benchmarks/spot` plays it
on traces.

*Slack* is the time left beyond the work left, if the work went on on demand. Waiting spends it, hour for hour. So does
every start, until the machine is back at work. Where the slack is as long as one start on demand, on demand it is. So
the deadline is kept as long as machines on demand are to be had. Before that, slack is spent where it buys most:

- **Lives are of all lengths.** What has been open for long stays open for long, and what has just opened may be gone
  in minutes. So a lane's life is taken to grow with the time since it was last refused or taken away.
- **Starts are what costs.** A lane of short lives needs so many starts that the slack does not last to the end. The
  rest of its work would be done on demand, and is priced so.
- **On demand comes before it must**, once spot is not expected to do the rest in the time left. Then slack remains for
  starts, when spot is back.
- **A dear lane is left alone** while cheaper ones are open often enough to do all the work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.launcher.spot_slack import slack_to_begin

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST_LIFE_HOURS = 0.6
"""Hours that spot is expected to live on if it has only just come to be had."""
LIFE_PER_HOUR_OPEN = 0.5
"""Hours more for each hour that it has been there: half of what lives have in the middle, for the better are seen."""
USABLE_SLACK = 0.5
"""The part of the slack that restarts are counted on to use: the rest is for waiting."""
HOPE = 0.6
"""The share of time with spot is raised so far towards all of it, before on demand is taken ahead of time."""
CHEAPER_DO = 0.8
"""The part of the work that cheaper lanes must do in expectation, before a dear one is left alone."""
MUCH_CHEAPER = 0.97
"""The part of its price below which another lane counts as cheaper."""
WORTH_A_MOVE = 1.2
"""Times as dear as the other lane that one must be, before a task that runs there is moved."""
PATIENCE_HOURS = 0.3
"""Hours that nothing was open, before on demand is taken ahead of time: most gaps are shorter."""
KEPT_STARTS = 4
"""Starts that the slack must still hold, if a gap is waited for."""


@dataclass(frozen=True)
class Chance:
    """A place where the task can go on from its newest checkpoint, and what is known of it."""

    usd_per_hour: float
    """What an hour of the training is expected to cost there now."""
    hours: float
    """Hours of work left, on its machines."""
    start_hours: float
    """Hours from the start until it is back at work: machines, data, and the checkpoint's copy if it lies elsewhere."""
    start_usd: float = 0.0
    """Dollars that a start costs beside these hours: the checkpoint's copy."""
    spot: bool = True
    is_open: bool = True
    """It would be given: it was not refused just now."""
    open_hours: float = 0.0
    """Hours since it was last refused or taken away, as far as anybody knows."""
    share: float = 1.0
    """The part of the time in which it is open."""
    group: str = ""
    """Chances of one group, such as a Region's, are closed together."""


@dataclass(frozen=True)
class Situation:
    """A task and its deadline, at the moment of a choice."""

    left: float
    """Hours until the deadline."""
    at: int | None = None
    """The number of the chance that runs now; None while nothing does."""
    starting: float = 0.0
    """Hours until what runs is at work."""
    closed_hours: float = 0.0
    """Hours for which no spot has been open."""
    look: float = 0.0
    """Hours until it is asked again."""
    at_risk: float = 0.0
    """The most hours of work that are lost when spot is taken away: those between two checkpoints."""


def choose(chances: Sequence[Chance], now: Situation) -> int | None:
    """Return the number of the chance to run on from now: the one that runs, or another. None is to wait, or to stop.

    Without a chance on demand no deadline can be promised: then the cheapest spot is taken whenever there is any.
    """
    safe = _safe_harbour(chances)
    if safe is None:
        return _hold_or(now, chances, min(_open_spot(chances), key=lambda n: _price(chances[n]), default=None))
    policy = _Policy(chances, now, safe)
    return policy.stay() if now.at is not None and chances[now.at].spot else policy.start()


def longest_wait(chances: Sequence[Chance], left: float) -> float:
    """Return the hours for which a task may be left on spot unseen, nothing done, so that on demand still ends in time.

    Negative if it is too late for that already; infinite if there is nothing on demand.
    """
    safe = _safe_harbour(chances)
    return float("inf") if safe is None else left - chances[safe].hours - chances[safe].start_hours


def has_slack_to_begin(chances: Sequence[Chance], left: float) -> bool:
    """Return whether a task may begin on spot, so that on demand still ends in time. It may if nothing is on demand."""
    safe = _safe_harbour(chances)
    return safe is None or left - chances[safe].hours >= slack_to_begin(chances[safe].start_hours)


class _Policy:
    """What follows from chances and a situation if there is a place on demand to fall back on."""

    def __init__(self, chances: Sequence[Chance], now: Situation, safe: int) -> None:
        self.chances = chances
        self.now = now
        self.number = safe
        self.safe = chances[safe]
        self.slack = now.left - self.safe.hours - now.starting
        self.on_demand = now.at == safe

    def stay(self) -> int:
        """Return where a task goes on that runs on spot."""
        at = self.now.at if self.now.at is not None else self.number
        there = self.chances[at]
        if not there.is_open or self.slack < self.safe.start_hours + self.now.look + self.now.at_risk:
            return self.number
        best = self._best()
        if best is None or best == at or not self._affords(self.chances[best]):
            return at
        return best if self._cost(self.chances[best]) * WORTH_A_MOVE < self._cost(there, running=True) else at

    def start(self) -> int | None:
        """Return where a task goes on that waits, or runs on demand."""
        best = self._best()
        if best is not None and self._affords(self.chances[best]) and self._is_worth_it(self.chances[best]):
            return best
        reserve = self.safe.start_hours + 2 * self.now.look
        if self.slack < reserve:
            return self.number
        if not self._is_behind():
            return None
        may_wait = self.now.closed_hours <= PATIENCE_HOURS and self.slack >= KEPT_STARTS * self.safe.start_hours
        return None if may_wait and not self.on_demand else self.number

    def _best(self) -> int | None:
        return min(_open_spot(self.chances), key=lambda n: self._cost(self.chances[n]), default=None)

    def _affords(self, chance: Chance) -> bool:
        """Return whether the slack pays for a start there, and for one on demand if it is taken away at once."""
        needed = chance.start_hours + self.safe.start_hours + self.now.at_risk
        return self.slack >= needed + 2 * self.now.look

    def _is_worth_it(self, chance: Chance) -> bool:
        if self._cost(chance) >= self.safe.usd_per_hour * self.safe.hours:
            return False
        # A cheaper one that is open was not chosen, for its life is too short: it does not count.
        away = [other for other in self.chances if other.spot and not other.is_open]
        cheaper = [other for other in away if _price(other) < MUCH_CHEAPER * _price(chance)]
        return chance.hours >= CHEAPER_DO * _share_open(cheaper) * (self.now.left - self.safe.start_hours)

    def _is_behind(self) -> bool:
        share = _share_open([chance for chance in self.chances if chance.spot])
        share += (1 - share) * HOPE
        return self.safe.hours > share * (self.now.left - self.safe.start_hours)

    def _cost(self, chance: Chance, *, running: bool = False) -> float:
        """Return the dollars that the rest of the work costs, if chances as good as this one are taken to the end."""
        life = max(min(LEAST_LIFE_HOURS + LIFE_PER_HOUR_OPEN * chance.open_hours, chance.hours), 1e-6)
        hourly = chance.usd_per_hour
        if not running:
            hourly += (chance.usd_per_hour * chance.start_hours + chance.start_usd) / life
        if self.on_demand:  # and back again, when this life is over
            hourly += self.safe.usd_per_hour * self.safe.start_hours / life
        starts = chance.start_hours * chance.hours / life
        spare = USABLE_SLACK * (self.slack - self.safe.start_hours)
        lasts = 1.0 if spare >= starts else max(spare / starts, 0.0)
        return lasts * hourly * chance.hours + (1 - lasts) * self.safe.usd_per_hour * self.safe.hours


def _safe_harbour(chances: Sequence[Chance]) -> int | None:
    """Return the number of the chance on demand that is done first, or of several the cheapest; None without any."""
    on_demand = [number for number, chance in enumerate(chances) if not chance.spot and chance.is_open]
    return min(on_demand, key=lambda n: (chances[n].hours + chances[n].start_hours, _price(chances[n])), default=None)


def _hold_or(now: Situation, chances: Sequence[Chance], other: int | None) -> int | None:
    return now.at if now.at is not None and chances[now.at].is_open else other


def _open_spot(chances: Sequence[Chance]) -> list[int]:
    return [number for number, chance in enumerate(chances) if chance.spot and chance.is_open]


def _price(chance: Chance) -> float:
    """Return what all the work left costs there, if nothing is interrupted."""
    return chance.usd_per_hour * chance.hours


def _share_open(chances: Sequence[Chance]) -> float:
    """Return the part of the time in which any of these is open: groups are open independently of each other."""
    closed = 1.0
    for group in sorted({chance.group for chance in chances}):
        closed *= 1 - max(chance.share for chance in chances if chance.group == group)
    return 1 - closed
