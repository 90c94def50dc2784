"""Takes what a night trains out of what there is, so that no other night of the workload trains it, too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.nightly.picking.pick import pick
from orchestrator.nightly.picking.picked import Picked
from orchestrator.nightly.picking.under_way import Claim, find_holders

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.nightly.goal import Goal
    from orchestrator.nightly.picking.under_way import UnderWay
    from orchestrator.nightly.shelf import Night
    from orchestrator.orchestrator import Orchestrator


@dataclass(frozen=True)
class Behind:
    """Nights that train now what this one would: nothing is taken, and it is to be asked again when they have ended."""

    nights: tuple[str, ...]


class Taker:
    """Takes the tasks of one night."""

    def __init__(self, goal: Goal, night: Night, team: Orchestrator, counts: Callable[[Claim], bool]) -> None:
        """Take what tells whether another night's claim counts: not that of one whose place this night has taken."""
        self._goal = goal
        self._night = night
        self._team = team
        self._counts = counts
        self._everything = night.force or goal.when.retrain != "changed"

    def take(self, under_way: UnderWay) -> Picked | Behind:
        """Return what the night trains, and nobody else does meanwhile; or whom it has to wait for.

        `overlap: skip` leaves out what others train now, and `queue` and `replace` wait for them. Who trains everything
        waits for nobody.
        """
        found: Picked | Behind = Behind(())

        def choose(others: list[Claim]) -> Claim | None:
            nonlocal found
            found = self._choose([claim for claim in others if self._counts(claim)])
            if isinstance(found, Behind) or not found.pieces:
                return None
            return Claim.of(self._night, found.to_json(), found.every_key(self._goal.sweep))

        taken = under_way.take(self._night, choose)
        return Picked.from_json(taken.picked) if taken else found

    def _choose(self, others: list[Claim]) -> Picked | Behind:
        found = pick(self._goal, self._team, everything=self._everything)
        holders = {} if self._everything else find_holders(others, found.every_key(self._goal.sweep))
        if not holders:
            return found
        if self._goal.when.overlap != "skip":
            return Behind(tuple(sorted(holders)))
        elsewhere = frozenset[str]().union(*holders.values())
        rest = pick(self._goal, self._team, everything=False, elsewhere=elsewhere)
        return rest.left_to(sorted(holders))
