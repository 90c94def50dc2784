"""Windows of time: tasks that wait have only what is left of their slots then, however early others are done.

All tasks of a lane that wait for at least so long run between then and the lane's end. So they fit into such windows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.planner.model.arrays import SLACK

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Floats, Integers

LATE = 0.03
"""A window is looked at if it begins after this part of the lane's time."""


@dataclass(frozen=True)
class Windows:
    """The windows of lanes, and what must lie in them: an entry for each window and each row that it is for."""

    lane: Integers
    """The lane of each window."""
    hours: Floats
    """The hours of one slot in each window, the slack included."""
    window: Integers
    row: Integers
    """The rows that lie in each window, as `find_windows` was given them."""


def find_windows(lane: Integers, wait: Floats, latest_end: Floats, most: int) -> Windows:
    """Return up to `most` windows of each lane, beside the one that all its rows lie in.

    `lane` and `wait` say for each row where it runs, and how long it waits there. `latest_end` is that of each lane.
    """
    lanes: list[int] = []
    hours: list[float] = []
    windows, found = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    by_lane = np.argsort(lane, kind="stable")
    for rows in np.split(by_lane, np.flatnonzero(np.diff(lane[by_lane])) + 1):
        if not len(rows):
            continue
        number = int(lane[rows[0]])
        waits = np.unique(wait[rows])[1:]
        waits = waits[waits > LATE * latest_end[number]]
        if len(waits) > most:
            waits = waits[np.linspace(0, len(waits) - 1, most).astype(np.int64)]
        for begin in waits.tolist():
            its = rows[wait[rows] >= begin]
            windows.append(np.full(len(its), len(lanes)))
            found.append(its)
            lanes.append(number)
            hours.append(max(float(latest_end[number]) * SLACK - begin, 0.0))
    return Windows(np.array(lanes, dtype=np.int64), np.array(hours), np.concatenate(windows), np.concatenate(found))
