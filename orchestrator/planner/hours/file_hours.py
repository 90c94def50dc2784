"""The hours that a runtime of the sweep file says, size by size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orchestrator.errors import InfeasibleError
from orchestrator.planner.hours.sizes import named_size, size_columns
from orchestrator.spec.space.runtime_expression import LONGEST_HOURS, SHORTEST_HOURS
from orchestrator.spec.sweep import INSTANCES_NAME

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Floats
    from orchestrator.spec.space.runtime_expression import Expression
    from orchestrator.spec.sweep import Sweep


def hours_of_file(sweep: Sweep, expression: Expression, instances: int) -> Floats:
    """Return the hours of a task of each size on so many instances. InfeasibleError if one is not above 0."""
    values = {INSTANCES_NAME: instances} | sweep.train.hyperparameters | size_columns(sweep)
    found = np.broadcast_to(expression(values), sweep.points.sizes)
    wrong = np.flatnonzero(~((found >= SHORTEST_HOURS) & (found <= LONGEST_HOURS)))
    if wrong.size:
        raise InfeasibleError(
            f"the runtime `{expression.text}` is {found[wrong[0]]:g} hours{named_size(sweep, int(wrong[0]))}",
            hint=f"it must be above 0 for every point: from {SHORTEST_HOURS:g} to {LONGEST_HOURS:,.0f} hours",
        )
    return np.array(found)
