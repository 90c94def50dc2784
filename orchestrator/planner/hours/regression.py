"""Linear regression that outliers hardly move, with a normal prior on each coefficient."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.planner.model.arrays import Floats

OUTLIER_SDS = 1.345
"""Standard deviations from which on a row counts less: 95 % efficient where there are no outliers."""
_LEAST_SD = 0.01
_ROUNDS = 100
_DIGITS = 6
"""Digits of a coefficient. Sums may differ in their last bits from machine to machine; coefficients may not."""


class Prior(NamedTuple):
    """A normal distribution: what is thought of a coefficient before any row is seen."""

    mean: float
    sd: float
    """Its standard deviation; inf where nothing is thought."""


def robust_regression(x: Floats, y: Floats, priors: Sequence[Prior]) -> Floats:
    """Return the coefficients of x that fit y best. The first column of x is 1, so the first coefficient is the level.

    It minimises Huber's loss by iteratively reweighted least squares. It begins at the means of the priors, with the
    median of what they leave over as the level.
    """
    mean, sd = np.array(priors).T
    precision = np.diag(sd**-2.0)
    found = mean + np.eye(len(mean))[0] * np.median(y - x @ mean)
    for _ in range(_ROUNDS):
        residuals = y - x @ found
        variance = robust_sd(residuals) ** 2
        weighted = x * outlier_weights(residuals)[:, None]
        before = found
        found = np.linalg.solve(x.T @ weighted / variance + precision, weighted.T @ y / variance + precision @ mean)
        if np.abs(found - before).max() < 10.0**-_DIGITS / 10:
            break
    return np.asarray(np.round(found, _DIGITS))


def robust_sd(residuals: Floats) -> float:
    """Return their standard deviation as the median absolute residual tells it: up to half of them may be wild."""
    return max(1.4826 * float(np.median(np.abs(residuals))), _LEAST_SD)


def outlier_weights(residuals: Floats) -> Floats:
    """Return the weight of each row: 1 for the ordinary, less for outliers."""
    return np.minimum(1.0, OUTLIER_SDS * robust_sd(residuals) / np.maximum(np.abs(residuals), 1e-300))


def clip_outliers(residuals: Floats) -> Floats:
    """Return the residuals, with outliers brought in to where outliers begin."""
    most = OUTLIER_SDS * robust_sd(residuals)
    return np.clip(residuals, -most, most)
