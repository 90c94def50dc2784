"""A campaign's recordings, as arrays that a network likes."""

import os
from pathlib import Path

import numpy as np

CHANNELS = ("TRAINING", "VALIDATION")


def load():
    """Return (inputs, angles) to train on, and those of the drive kept for validation, at mean 0 and variance 1.

    That is the one of the channel `validation`, or else the last of all.
    """
    folders = [Path(os.environ[f"SM_CHANNEL_{name}"]) for name in CHANNELS if f"SM_CHANNEL_{name}" in os.environ]
    files = [file for folder in folders for file in sorted(folder.glob("drive-*.npz"))]
    drives = [np.load(file) for file in files]
    features = [drive["features"] for drive in drives]
    angles = [drive["angle"][:, None] for drive in drives]
    x, y = np.concatenate(features[:-1]), np.concatenate(angles[:-1])
    scale_x, scale_y = (x.mean(0), x.std(0) + 1e-6), (y.mean(), y.std())
    return (scaled(x, scale_x), scaled(y, scale_y)), (scaled(features[-1], scale_x), scaled(angles[-1], scale_y))


def scaled(values, scale):
    mean, deviation = scale
    return ((values - mean) / deviation).astype(np.float32)
