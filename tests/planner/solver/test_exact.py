"""The model of small problems keeps tasks whole."""

from __future__ import annotations

import numpy as np
import pytest

from orchestrator.planner.solver.exact import WHOLE_SIZES, whole_sizes


@pytest.mark.parametrize("seed", range(20))
def test_whole_sizes_that_fit_into_one_still_do_after_a_dual_feasible_function(seed: int) -> None:
    random = np.random.default_rng(seed)
    sizes = random.choice([0.1, 0.2, 0.25, 1 / 3, 0.5, 0.6], 6)
    kept = sizes[: np.searchsorted(np.cumsum(sizes), 1 + 1e-9, side="right")]
    for q in WHOLE_SIZES:
        assert whole_sizes(kept, q).sum() <= 1 + 1e-9
