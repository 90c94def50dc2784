"""Starts, waits and refusals of lanes: what a training holds its slot for beside the hours that it trains.

All begin at a prior, and what was seen counts by how much of it there is, so that a few trainings turn no plan over.
docs/planner-learned.md has the formulas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from orchestrator.catalog.market import Market, Seen
    from orchestrator.planner.model.arrays import Floats

LANE = ["platform", "region", "instance_type", "purchase"]
PRIOR_TRAININGS = 20
"""Trainings of our own that weigh as much as what the platform says of starts."""
PRIOR_ASKED_HOURS = 12.0
"""Hours of asking that weigh as much as the prior, which says that machines are there at once."""
REFUSED_H = 1.0
"""Hours until a lane that refuses is asked anew, as far as the expected wait goes."""
TIMES = ("start_h", "starts_per_hour", "wait_h", "refused")
"""The columns that with_times adds."""


def with_times(lanes: pd.DataFrame, market: Market) -> pd.DataFrame:
    """Return a table that has the columns LANE with TIMES as well, as far as it has not.

    `start_h` is the hours to start and to end, `wait_h` those until there are machines, and `refused` is the chance
    that a lane has none when it is asked. `starts_per_hour` is infinite where nothing is known.
    """
    known = market.starts if len(market.starts) else market.starts.astype(dict.fromkeys(LANE, object))
    found = lanes[LANE].merge(known, on=LANE, how="left").fillna({"start_h": 0.0, "starts_per_hour": np.inf})
    start_h = blend_start(found["start_h"].to_numpy(dtype=np.float64), *_started(lanes, market.seen))
    asked, refused_in, granted, waited = (_seen_of(lanes, market.seen.asked, name) for name in _ASKED)
    refused = chance_refused(asked, refused_in)
    wait_h = expected_wait(refused, granted, waited)
    made = {
        "start_h": pinned(lanes, market.seen, "start", start_h),
        "starts_per_hour": found["starts_per_hour"].to_numpy(dtype=np.float64),
        "wait_h": pinned(lanes, market.seen, "waiting", wait_h),
        # Whoever pins the wait says how it is with machines there: past refusals count no more.
        "refused": np.where(_are_pinned(lanes, market.seen, "waiting"), 0.0, refused),
    }
    return lanes.assign(**{name: values for name, values in made.items() if name not in lanes})


_ASKED = ("asked_h", "refused_h", "granted_h", "waited_h")


def blend_start(prior: Floats, trainings: Floats, seen: Floats) -> Floats:
    """Return the hours that a start takes: those of the prior, and those seen by so many trainings."""
    return np.asarray((trainings * seen + PRIOR_TRAININGS * prior) / (trainings + PRIOR_TRAININGS))


def chance_refused(asked: Floats, refused: Floats) -> Floats:
    """Return the chance that a lane refuses, which has been asked in so many hours and has refused in so many."""
    return np.asarray(refused / (asked + PRIOR_ASKED_HOURS))


def expected_wait(refused: Floats, granted: Floats, waited: Floats) -> Floats:
    """Return the hours until a lane has machines that refuses at this chance, and let so many hours wait otherwise."""
    return np.asarray(refused / (1 - refused) * REFUSED_H + waited / (granted + PRIOR_ASKED_HOURS))


def pinned(lanes: pd.DataFrame, seen: Seen, what: str, values: Floats) -> Floats:
    """Return the values of these lanes, but for those of which a person has pinned one."""
    pins = seen.pins[seen.pins["what"] == what]
    if pins.empty:
        return values
    own = names_of(lanes).map(dict(zip(pins["place"], pins["value"], strict=True))).to_numpy(dtype=np.float64)
    return np.where(np.isfinite(own), own, values)


def names_of(lanes: pd.DataFrame) -> pd.Series[str]:
    """Return the name of each lane, as pins have it."""
    return lanes["platform"].astype(str).str.cat(lanes[LANE[1:]].astype(str), sep="/")


def _are_pinned(lanes: pd.DataFrame, seen: Seen, what: str) -> Floats:
    return np.isfinite(pinned(lanes, seen, what, np.full(len(lanes), np.nan)))


def _started(lanes: pd.DataFrame, seen: Seen) -> tuple[Floats, Floats]:
    return _seen_of(lanes, seen.starts, "trainings"), _seen_of(lanes, seen.starts, "start_h")


def _seen_of(lanes: pd.DataFrame, seen: pd.DataFrame, name: str) -> Floats:
    """Return what was seen of each lane; 0 where nothing was."""
    if seen.empty:
        return np.zeros(len(lanes))
    found = lanes[LANE].merge(seen[[*LANE, name]], on=LANE, how="left")[name]
    return np.asarray(found.fillna(0.0).to_numpy(dtype=np.float64))
