"""What a plan's tasks train on: a dataset of the catalog, or a line of a classic JOBARRAY."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orchestrator.wire.manifest import ClassicLine

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.wire.task import Place, Scalar


@dataclass(frozen=True)
class Dataset:
    """A version of a campaign's data that tasks train on; or a line of a classic JOBARRAY, with what it says."""

    name: str
    bytes: int
    point: dict[str, Scalar] = field(default_factory=dict)
    """The parameters that a line has: all its tasks have them, beside those of the space."""
    instance_type: str = ""
    """The instance type that a line asks for; empty where it may be any."""
    image: str = ""
    """The image that a line asks for; empty where it is the sweep's."""

    def to_json(self) -> dict[str, Any]:
        body: dict[str, Any] = {"name": self.name, "bytes": self.bytes}
        if self.point:
            body["point"] = self.point
        if self.instance_type:
            body["instance_type"] = self.instance_type
        if self.image:
            body["image"] = self.image
        return body

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Dataset:
        said = (body.get("point", {}), body.get("instance_type", ""), body.get("image", ""))
        return cls(body["name"], body["bytes"], *said)

    @property
    def is_line(self) -> bool:
        """True for a line of a classic JOBARRAY: only these are called by their data's URI."""
        return self.name.startswith("s3://")


def lines_of(placed: Iterable[tuple[Dataset, tuple[Place, ...]]]) -> list[ClassicLine]:
    """Return the lines of the classic JOBARRAY that a plan was made from, given the places of each dataset in turn."""
    found: dict[tuple[str, str], ClassicLine] = {}
    for dataset, places in placed:
        for place in places if dataset.is_line else ():
            said = (dataset.point, dataset.instance_type, dataset.image)
            line = ClassicLine(place.lane.region, place.s3_uri, *said)
            found.setdefault((dataset.name, place.lane.region), line)
    return list(found.values())
