"""What a night has picked, written down once: everything after it goes by this, whatever data arrives meanwhile."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from orchestrator.models.warm_start import start_from
from orchestrator.nightly.picking.choose import Piece
from orchestrator.nightly.picking.keys import task_keys
from orchestrator.spec.warm import Warm
from orchestrator.wire.stored import VERSION, check_version, restore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.plan.plan import Plan
    from orchestrator.spec.sweep import Sweep


@dataclass(frozen=True)
class Picked:
    """The tasks of a night, with what makes each of them what it is."""

    pieces: tuple[Piece, ...]
    works: tuple[str, ...]
    """Digests of all that the tasks share, the one that they are known by first."""
    marks: dict[str, list[str]]
    """The marks of each dataset, by its campaign, the one that it is known by first."""
    regions: tuple[str, ...]
    """The Regions that may be trained in, where some did not answer; empty if all did."""
    tasks: int
    why: str
    """It in one line."""
    warm: dict[str, Any] = field(default_factory=dict)
    """What the tasks take from the champion that there was, as a `Warm`; empty if there was none."""

    def warmed(self, sweep: Sweep) -> Sweep:
        """Return the sweep with what it takes from the champion."""
        return start_from(sweep, Warm.model_validate(self.warm, extra="ignore")) if self.warm else sweep

    def left_to(self, nights: Sequence[str]) -> Picked:
        """Return the same, with words that say who trains the rest."""
        names = ", ".join(nights)
        left = f"{self.why}; what {names} trains is left to it" if self.pieces else f"skipped: {names} trains the same"
        return replace(self, why=left)

    def to_json(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "pieces": [piece.to_json() for piece in self.pieces],
            "works": list(self.works),
            "marks": self.marks,
            "regions": list(self.regions),
            "tasks": self.tasks,
            "why": self.why,
            "warm": self.warm,
        }

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Picked:
        """Return what was picked. NewerVersion if a newer `sweep` has written it."""
        check_version(body, "pick of a night")
        pieces = tuple(Piece.from_json(piece) for piece in body["pieces"])
        return restore(cls, {**body, "pieces": pieces}, works=tuple, regions=tuple)

    def keys(self, plan: Plan, task: int) -> list[str]:
        """Return every key of a task of a plan that was made for a piece of it."""
        campaign = plan.datasets[plan.share(task).dataset].name.rpartition("@")[0]
        return task_keys(self.works, self.marks[campaign], plan.point(task))

    def every_key(self, sweep: Sweep) -> frozenset[str]:
        """Return every key of all its tasks; `sweep` is that of the goal."""
        space = self.warmed(sweep).points
        tasks = (
            (campaign, number)
            for piece in self.pieces
            for campaign in piece.campaigns
            for number in piece.points or range(len(space))
        )
        return frozenset(
            key
            for campaign, number in tasks
            for key in task_keys(self.works, self.marks[campaign], space.point(number))
        )
