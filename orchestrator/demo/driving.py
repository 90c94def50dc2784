"""Six driving campaigns, made up but not made easy: a car follows a road, and the wheel's angle is what to learn.

The angle answers to the road ahead, to the car's speed and place in its lane, and to the grip: in rain and snow the
same bend wants more of it, and at some point the tyres give no more. That is not linear, and differs by campaign.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

FEATURES = ("speed", "offset", "heading", "bend_now", "bend_1s", "bend_2s", "yaw_rate", "slip", "sight", "roughness")
DRIVES = 6
"""The number of recordings of one campaign. The last one is kept for validation."""
ROWS = 1200
SEED = 20_261_120


@dataclass(frozen=True)
class Campaign:
    """What a campaign's recordings are generated from."""

    name: str
    regions: tuple[str, ...]
    """The Region where it was recorded, and then those that it was replicated to."""
    tags: tuple[str, ...]
    recorded: str
    bend: float
    """The typical curvature of the road, in 1/m."""
    speed: float
    """The speed on a straight, in m/s."""
    grip: float
    """The grip of the tyres on this road; 1 is dry asphalt."""
    noise: float
    """The noise of the sensors; there is more at night and in rain."""


# fmt: off
CAMPAIGNS = (
    Campaign("alpine-passes", ("eu-central-1",), ("mountain", "dry"), "2026-06-14",
             bend=0.022, speed=16, grip=0.95, noise=0.03),
    Campaign("autobahn-night", ("eu-central-1", "eu-west-1"), ("motorway", "night"), "2026-02-03",
             bend=0.004, speed=36, grip=0.9, noise=0.09),
    Campaign("boston-snow", ("us-east-1",), ("city", "snow"), "2026-01-22",
             bend=0.014, speed=11, grip=0.35, noise=0.07),
    Campaign("dublin-rain", ("eu-west-1", "eu-central-1"), ("city", "rain"), "2026-03-09",
             bend=0.016, speed=13, grip=0.6, noise=0.06),
    Campaign("manhattan-day", ("us-east-1", "us-west-2"), ("city", "dry"), "2026-05-18",
             bend=0.02, speed=10, grip=1.0, noise=0.04),
    Campaign("pacific-coast", ("us-west-2", "us-east-1"), ("coast", "dry"), "2026-07-27",
             bend=0.012, speed=22, grip=0.95, noise=0.03),
)
# fmt: on


def drives(campaign: Campaign) -> Iterator[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """Yield each drive's features and steering angles. They are the same for everybody, always."""
    import numpy as np

    seed = [SEED, *campaign.name.encode()]
    for child in np.random.SeedSequence(seed).spawn(DRIVES):
        yield simulate_drive(campaign, np.random.default_rng(child))


def simulate_drive(campaign: Campaign, random: np.random.Generator) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return one drive's features and steering angles, a row for each moment."""
    import numpy as np

    bend = campaign.bend * _smooth(random, ROWS + 20, 0.97)
    now, soon, later = bend[:ROWS], bend[10 : ROWS + 10], bend[20:]
    speed = campaign.speed * np.exp(0.4 * _smooth(random, ROWS, 0.98)) / np.sqrt(1 + np.abs(soon) * 30)
    offset, heading = 0.6 * _smooth(random, ROWS, 0.95), 0.05 * _smooth(random, ROWS, 0.9)
    grip = np.clip(campaign.grip * (1 + 0.1 * _smooth(random, ROWS, 0.995)), 0.2, 1.1)
    rough, sight = np.abs(_smooth(random, ROWS, 0.9)), 1 - campaign.noise * 5 + 0.05 * _smooth(random, ROWS, 0.98)

    ahead = 0.5 * now + 0.35 * soon + 0.15 * later
    push = speed**2 * np.abs(ahead) / (9.81 * grip)
    understeer = 1 + 4 * np.tanh(push) ** 2
    correction = heading + np.arctan(4 * offset / (1 + speed))
    angle = np.degrees(8 * np.tanh(2.7 * ahead * understeer - correction))

    clean = np.stack([speed, offset, heading, now, soon, later, speed * now * grip, push, sight, rough], axis=1)
    noisy = clean + campaign.noise * clean.std(axis=0) * random.standard_normal(clean.shape)
    return noisy.astype(np.float32), angle.astype(np.float32)


def _smooth(random: np.random.Generator, rows: int, memory: float) -> NDArray[np.float64]:
    """Return a wandering signal of mean 0 and variance 1, each value near its last one."""
    import numpy as np

    steps = random.standard_normal(rows) * np.sqrt(1 - memory**2)
    value, signal = random.standard_normal(), np.empty(rows)
    for row in range(rows):
        value = memory * value + steps[row]
        signal[row] = value
    return signal
