"""What a job would cost at the least, if all of a trace were known beforehand: a dynamic program over ticks.

It is a bound. Restarts and copies are rounded down to whole ticks, and so is the work. What a checkpoint's copy costs,
and what an interruption loses of unsaved work, is left out. So no policy is below it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.spot.simulate import ALMOST

if TYPE_CHECKING:
    from benchmarks.spot.simulate import Job
    from benchmarks.spot.traces import Trace


def least_usd(trace: Trace, job: Job) -> float:
    """Return the dollars below which nobody gets the job done in time. Infinite if there is no time for it."""
    tick = trace.tick_hours
    work, restart = (int(hours / tick + ALMOST) for hours in (job.work, job.restart))
    ticks = min(int(job.deadline / tick + ALMOST), trace.ticks)
    is_open = np.array([[*(zone.is_open[n] for zone in trace.zones), True] for n in range(ticks)])
    usd = np.array(
        [[*(zone.usd_per_hour[n] for zone in trace.zones), trace.on_demand_usd_per_hour] for n in range(ticks)]
    )
    # to_come[done]: dollars from here on, with nothing running; running[zone, ticks of restart left, done] likewise.
    to_come = np.full(work + 1, np.inf)
    to_come[work] = 0.0
    running = np.tile(to_come, (is_open.shape[1], restart + 1, 1))
    for number in range(ticks - 1, -1, -1):
        cost = (usd[number] * tick)[:, None]
        now = np.full_like(running, np.inf)
        now[:, 1:, :] = cost[:, :, None] + running[:, :-1, :]
        now[:, 0, :-1] = cost + running[:, 0, 1:]
        now[:, :, work] = 0.0
        now[~is_open[number]] = np.inf
        to_come = np.minimum(to_come, now[:, restart, :].min(axis=0))
        running = np.minimum(now, to_come)
    return float(to_come[0])
