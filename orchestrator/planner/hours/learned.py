"""`LearnedHours`: the hours of any task, as finished tasks tell them. learn.py makes it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from orchestrator.planner.hours.speed import speed
from orchestrator.wire.stored import Real, restore

if TYPE_CHECKING:
    from orchestrator.planner.model.arrays import Floats

BYTES = "bytes of data"
INSTANCES = "number of instances"
"""Features beside the parameters. No parameter can have such a name."""


@dataclass(frozen=True)
class Feature:
    """Something that the hours depend on: the bytes of data, the number of instances, or a parameter."""

    name: str
    centre: Real
    lowest: Real
    """The lowest value that any finished task had."""
    highest: Real
    """The highest value that any finished task had."""
    logarithmic: bool
    """Hours are a power of the feature if True. Else, as some values are not above 0, they grow by factors over its
    range."""
    slope: Real = 0.0

    @property
    def varied(self) -> bool:
        """True if not all finished tasks had the same value."""
        return self.lowest < self.highest

    def column(self, values: Floats) -> Floats:
        """Return these values as a column of the regression: 0 at the centre."""
        if self.logarithmic:
            return np.log(values / self.centre)
        span = self.highest - self.lowest
        near = np.clip(values, self.lowest - span, self.highest + span)  # factors grow beyond all bounds
        return (near - self.centre) / (span or 1.0)

    def factor(self, values: Floats) -> Floats:
        """Return how many times the hours at the centre a task takes, for each of these values."""
        return np.exp(self.slope * self.column(values))


@dataclass(frozen=True)
class LearnedType:
    """An instance type that enough finished tasks ran on."""

    tasks: int
    pace: float
    """Hours there, for an hour on a type of speed 1."""
    low: float
    """Eight in ten tasks took at least this many times the expected hours."""
    high: float
    """Eight in ten tasks took at most this many times the expected hours."""


@dataclass(frozen=True)
class LearnedHours:
    """The expected hours of any task: base hours × the pace of its type × a factor for each feature."""

    base_hours: float
    """Hours expected on one instance type of speed 1, with every feature at its centre."""
    features: dict[str, Feature]
    types: dict[str, LearnedType]

    def pace(self, instance_type: str) -> float | None:
        """Return the hours on this type, for an hour on a type of speed 1.

        A type on which too few tasks ran goes by its speed beside the others. It is None if that is not known either.
        """
        if instance_type in self.types:
            return self.types[instance_type].pace
        own = speed(instance_type)
        return 1 / own if own and any(speed(name) for name in self.types) else None

    def factor(self, name: str, values: Floats) -> Floats:
        """Return how many times the base hours a task takes, for each of these values; 1 if nothing depends on it."""
        return self.features[name].factor(values) if name in self.features else np.ones(len(values))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> LearnedHours:
        """Return what a plan has kept of it."""
        return cls(
            body["base_hours"],
            {name: restore(Feature, feature) for name, feature in body["features"].items()},
            {name: restore(LearnedType, its) for name, its in body["types"].items()},
        )

    @property
    def doubling(self) -> float | None:
        """The factor by which twice the instances are faster; None if all finished tasks had equally many."""
        feature = self.features[INSTANCES]
        return 2**-feature.slope if feature.varied else None
