"""Linear regression that outliers hardly move, with a normal prior on each coefficient."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Floats

OUTLYING = 1.345
"""Standard deviations from which on a row counts less: 95 % efficient where there are no outliers."""
_LEAST_NOISE = 0.01
_ROUNDS = 100
_DIGITS = 6
"""Sums may differ in their last bits from one machine to the next; what is fitted may not."""


def regression(x: Floats, y: Floats, mean: Floats, sd: Floats) -> Floats:
    """The coefficients; `mean` and `sd` are what is thought of each before any row is seen (sd inf: nothing).

    Huber's loss, by iteratively reweighted least squares. It begins at the prior, with the median as its level, which
    the first coefficient is.
    """
    certainty = np.diag(sd**-2.0)
    fit = mean + np.eye(len(mean))[0] * np.median(y - x @ mean)
    for _ in range(_ROUNDS):
        rest = y - x @ fit
        variance = noise(rest) ** 2
        weighted = x * downweight(rest)[:, None]
        before, fit = (
            fit,
            np.linalg.solve(x.T @ weighted / variance + certainty, weighted.T @ y / variance + certainty @ mean),
        )
        if np.abs(fit - before).max() < 10.0**-_DIGITS / 10:
            break
    return np.asarray(np.round(fit, _DIGITS))


def noise(rest: Floats) -> float:
    """Their standard deviation, as the median tells it: half of them may be wild."""
    return max(1.4826 * float(np.median(np.abs(rest))), _LEAST_NOISE)


def downweight(rest: Floats) -> Floats:
    """1 for the ordinary, less for outliers."""
    return np.minimum(1.0, OUTLYING * noise(rest) / np.maximum(np.abs(rest), 1e-300))


def tamed(rest: Floats) -> Floats:
    """Outliers are brought in to where they begin to be some."""
    most = OUTLYING * noise(rest)
    return np.clip(rest, -most, most)
