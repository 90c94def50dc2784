"""What interruptions do to a task: expected hours, in closed form. Derived in docs/planner.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Floats

INTERRUPTIONS_PER_HOUR = 0.05
RESTART_HOURS = 0.1
"""Both are priors: one interruption in twenty hours, six minutes to be back at work."""
_LEAST_RATE = 1e-9
"""Where nothing is ever interrupted the formula divides by zero; this much changes no hours that anybody can tell."""


def expected_hours(hours: Floats, every: float | None, rate: Floats | float = INTERRUPTIONS_PER_HOUR) -> Floats:
    """That a task of `hours` holds a spot instance, with a checkpoint `every` so many hours, or none; `rate` is that of
    interruptions an hour."""
    stretch = hours if every is None else np.minimum(hours, every)
    risk = np.maximum(rate, _LEAST_RATE)
    # Beyond e^700 there are no floats; such a task never ends.
    once = (1 / risk + RESTART_HOURS) * np.expm1(np.minimum(risk * stretch, 700.0))
    return np.asarray(hours / stretch * once)
