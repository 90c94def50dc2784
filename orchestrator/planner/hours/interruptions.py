"""The hours that a task holds its instances, spot interruptions included. docs/planner-model.md derives the formula."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orchestrator.spec.duration import HOUR, seconds

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Booleans, Floats
    from orchestrator.spec.sweep import Sweep

INTERRUPTIONS_PER_HOUR = 0.05
"""A prior, where the catalog knows nothing of a lane: one interruption in twenty hours."""
RESTART_HOURS = 0.1
"""A prior: six minutes until an interrupted task is back at work."""
_LEAST_RATE = 1e-9
"""The formula divides by the rate, so it is never 0. This much changes no hours that anybody can see."""


def held_hours(sweep: Sweep, work: Floats, is_spot: Booleans, interruptions_per_hour: Floats) -> Floats:
    """Return the hours that tasks of so many hours of work hold their instances. A timeout counts these hours.

    On spot that is more than the work: what was interrupted is done again. The rate is nan where none is known.
    """
    rate = np.nan_to_num(interruptions_per_hour, nan=INTERRUPTIONS_PER_HOUR)
    return np.where(is_spot, expected_hours(work, _checkpoint_hours(sweep), rate), work)


def expected_hours(hours: Floats, every: float | None, rate: Floats | float = INTERRUPTIONS_PER_HOUR) -> Floats:
    """Return the hours that a task of `hours` of work is expected to hold a spot instance.

    It saves a checkpoint `every` so many hours, or none. `rate` is the number of interruptions an hour.
    """
    stretch = hours if every is None else np.minimum(hours, every)
    risk = np.maximum(rate, _LEAST_RATE)
    # Beyond e^700 there are no floats; such a task never ends.
    hours_of_a_stretch = (1 / risk + RESTART_HOURS) * np.expm1(np.minimum(risk * stretch, 700.0))
    return np.asarray(hours / stretch * hours_of_a_stretch)


def _checkpoint_hours(sweep: Sweep) -> float | None:
    return seconds(sweep.train.checkpoints.every) / HOUR if sweep.train.checkpoints else None
