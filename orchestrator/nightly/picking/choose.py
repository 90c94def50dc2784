"""What is trained tonight: the tasks that are not trained yet, as a few sweeps that have just these. Pure."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.nightly.picking.keys import task_key
from orchestrator.spec.space.axes import Zip
from orchestrator.spec.sweep import Sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from orchestrator.spec.space.space import Space
    from orchestrator.wire.task import Scalar

MOST_PIECES = 8
"""Runs of one night, at the most: where more would be needed, the last one trains some tasks again."""
_AXIS = "points"
"""The axis of points that are chosen one by one."""


@dataclass(frozen=True)
class Dataset:
    """A dataset that a night may train on."""

    campaign: str
    version: str
    marks: tuple[str, ...]
    """Its marks where it lies, the one that it is known by first."""


@dataclass(frozen=True)
class Piece:
    """Some datasets with some points, each dataset with each point."""

    campaigns: tuple[str, ...]
    points: tuple[int, ...]
    """The numbers of the points; empty for all."""

    def to_json(self) -> dict[str, Any]:
        return {"campaigns": list(self.campaigns), "points": list(self.points)}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Piece:
        return cls(tuple(body["campaigns"]), tuple(body["points"]))


def choose(sweep: Sweep, datasets: Iterable[Dataset], works: Sequence[str], trained: Container[str]) -> list[Piece]:
    """Return what of these datasets is not trained yet, as few pieces; none if there is nothing new.

    A champion's parameters are tried beside what is new, and are no reason to train by themselves.
    """
    points = [sweep.points.point(number) for number in range(len(sweep.points))]

    def is_new(dataset: Dataset, point: Mapping[str, Scalar]) -> bool:
        return task_key(works[0], dataset.marks[0], point) not in trained

    return _pieces(sweep.points, points, datasets, is_new)


def _pieces(
    space: Space,
    points: list[dict[str, Scalar]],
    datasets: Iterable[Dataset],
    is_new: Callable[[Dataset, Mapping[str, Scalar]], bool],
) -> list[Piece]:
    """Return the datasets together that lack the same points; those that lack most tasks first."""
    by_points: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for dataset in datasets:
        lacking = tuple(number for number, point in enumerate(points) if is_new(dataset, point))
        if not all(space.is_beside(number) for number in lacking):
            by_points[lacking].append(dataset.campaign)
    groups = sorted(by_points.items(), key=lambda group: (-len(group[0]) * len(group[1]), group))
    if len(groups) > MOST_PIECES:
        rest = groups[MOST_PIECES - 1 :]
        union = tuple(sorted({number for numbers, _ in rest for number in numbers}))
        groups = [*groups[: MOST_PIECES - 1], (union, sorted(name for _, names in rest for name in names))]
    return [Piece(tuple(sorted(names)), () if len(numbers) == len(points) else numbers) for numbers, names in groups]


def restrict(sweep: Sweep, piece: Piece, regions: Sequence[str] = ()) -> Sweep:
    """Return the sweep with just the tasks of a piece; in these Regions alone, if there are some."""
    changes: dict[str, Any] = {
        "data": sweep.data.model_copy(update={"campaigns": list(piece.campaigns)}),
        "schedule": None,
    }
    if piece.points:
        rows = [sweep.points.point(number) for number in piece.points]
        changes["space"] = {_AXIS: Zip(zip={name: [row[name] for row in rows] for name in rows[0]})}
        if sweep.warm:
            changes["warm"] = sweep.warm.model_copy(update={"point": {}})  # its point is one of these, or is not wanted
    if regions:
        changes["where"] = sweep.where.model_copy(update={"regions": list(regions)})
    return Sweep.model_validate(sweep.model_copy(update=changes).model_dump(mode="json"))


def count_tasks(sweep: Sweep, piece: Piece) -> int:
    """Return the number of tasks of a piece."""
    return len(piece.campaigns) * (len(piece.points) or len(sweep.points))
