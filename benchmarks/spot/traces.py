"""Traces of spot: which zones were open when, and at what price. Read from files, or made up from a seed.

A trace is a JSON file a zone, whose name begins with the zone's:

    {"metadata": {"gap_seconds": 195, "start_time": "2023-02-15T22:08:16",
                  "price_info": {"zone": "us-east-1a", "on_demand_price": 3.06, "price": 0.918}},
     "data": [1, 1, 0, ...], "prices": [1.65, 1.65, 1.66, ...]}

`data` is 1 in a tick in which the zone is NOT to be had, and 0 in one in which it is. `prices` are dollars an hour,
tick by tick; where a file has none, `price` holds throughout. Zones may have ticks of other lengths, begin at other
times and end at other times: what all of them cover is played, in ticks of the shortest.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Zone:
    """One zone, tick by tick."""

    name: str
    is_open: tuple[bool, ...]
    usd_per_hour: tuple[float, ...]

    @property
    def region(self) -> str:
        """The Region that a zone such as us-east-1a lies in."""
        return self.name.rstrip("abcdefghijklmnopqrstuvwxyz")


@dataclass(frozen=True)
class Trace:
    """Zones over the same ticks."""

    zones: tuple[Zone, ...]
    tick_hours: float
    on_demand_usd_per_hour: float

    @property
    def ticks(self) -> int:
        return len(self.zones[0].is_open)

    def window(self, first: int, ticks: int) -> Trace:
        """Return so many ticks of it, from this one on."""
        part = slice(first, first + ticks)
        zones = tuple(Zone(zone.name, zone.is_open[part], zone.usd_per_hour[part]) for zone in self.zones)
        return Trace(zones, self.tick_hours, self.on_demand_usd_per_hour)

    def windows(self, hours: float, every: float) -> list[Trace]:
        """Return all windows of so many hours that begin `every` so many hours and lie whole in the trace."""
        length, count = round(hours / self.tick_hours), int(self.ticks * self.tick_hours / every) + 1
        starts = (round(number * every / self.tick_hours) for number in range(count))
        return [self.window(first, length) for first in starts if first + length <= self.ticks]


def read_traces(folder: Path) -> Trace:
    """Return the trace of the zones whose files lie in this folder. ValueError says what is wrong with a file."""
    files = sorted(folder.glob("*.json"))
    if not files:
        raise ValueError(f"{folder}: no files of traces, *.json")
    read = [_read(file) for file in files]
    begin, end = max(one.begin for one in read), min(one.end for one in read)
    gap = min(one.gap for one in read)
    ticks = int((end - begin) / gap)
    if ticks < 1:
        raise ValueError(f"{folder}: its traces have no time in common")
    moments = [begin + number * gap for number in range(ticks)]
    zones = tuple(one.zone(moments) for one in read)
    return Trace(zones, gap / timedelta(hours=1), max(one.on_demand for one in read))


@dataclass(frozen=True)
class _File:
    name: str
    begin: datetime
    gap: timedelta
    closed: list[int]
    prices: list[float]
    on_demand: float

    @property
    def end(self) -> datetime:
        return self.begin + self.gap * min(len(self.closed), len(self.prices))

    def zone(self, moments: list[datetime]) -> Zone:
        at = [int((moment - self.begin) / self.gap) for moment in moments]
        return Zone(self.name, tuple(not self.closed[tick] for tick in at), tuple(self.prices[tick] for tick in at))


def _read(file: Path) -> _File:
    try:
        body: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        metadata, closed = body["metadata"], body["data"]
        money = metadata.get("price_info", {})
        prices = body.get("prices") or [float(money["price"])] * len(closed)
        begin = datetime.fromisoformat(metadata.get("start_time", "2000-01-01T00:00:00"))
        name = str(money.get("zone") or file.name.partition("_")[0])
        gap = timedelta(seconds=float(metadata["gap_seconds"]))
        if gap <= timedelta(0) or set(closed) - {0, 1}:
            raise ValueError("gap_seconds is not above 0, or data holds something else than 0 and 1")
        return _File(name, begin, gap, closed, [float(price) for price in prices], float(money["on_demand_price"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{file}: not a trace: {type(error).__name__}: {error}") from error


def make_trace(seed: int, *, zones: int = 4, hours: float = 200.0, tick_hours: float = 0.1) -> Trace:
    """Return a trace of so many zones of made-up spot, two to a Region. Lives and gaps are of all lengths, as real ones
    are.

    A life is as likely to end within the next hour as it is old: its length is a Pareto number of hours.
    """
    random = Random(seed)
    made = tuple(_make_zone(random, number, round(hours / tick_hours), tick_hours) for number in range(zones))
    return Trace(made, tick_hours, 3.0)


def _make_zone(random: Random, number: int, ticks: int, tick_hours: float) -> Zone:
    life, gap, price = random.uniform(0.2, 1.5), random.uniform(0.2, 1.0), random.uniform(0.8, 2.0)
    is_open: list[bool] = []
    now = random.random() < 0.6
    while len(is_open) < ticks:
        length = (life if now else gap) * random.paretovariate(0.9)
        is_open += [now] * max(round(min(length, 100) / tick_hours), 1)
        now = not now
    prices = tuple(price * (1 + 0.1 * random.random()) for _ in range(ticks))
    return Zone(f"region-{number // 2 + 1}{'ab'[number % 2]}", tuple(is_open[:ticks]), prices)
