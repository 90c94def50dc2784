"""The types of the planner's arrays, and how nearly two sums of hours must agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]
    Booleans = npt.NDArray[np.bool_]

SLACK = 1 + 1e-9
"""The factor by which a sum may exceed its limit, because sums of hours may differ in their last bits."""
