"""What a submission has planned anew for its tasks: from then on, it stands in the run's plan instead of what stood."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from orchestrator.plan.copy import Copy
from orchestrator.plan.facts import Lot, QuotaFact
from orchestrator.plan.plan import Share
from orchestrator.plan.slots import LotKey
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.stored import restore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from orchestrator.plan.plan import Plan


@dataclass(frozen=True)
class Planned:
    """The places of some tasks of a run, as planned anew, with what else of its plan that changes."""

    shares: tuple[Share, ...]
    """They hold the submission's tasks, in their order, perhaps with gaps."""
    copies: tuple[Copy, ...] = ()
    """Copies of data that are made for them, beside those that the run has."""
    lots: tuple[Lot, ...] = ()
    """Every lane that they may come to run on, with what the whole run uses of it."""
    quotas: tuple[QuotaFact, ...] = ()

    @cached_property
    def tasks(self) -> Ranges:
        return Ranges.union(share.tasks for share in self.shares)

    def applied(self, plan: Plan) -> Plan:
        """Return the run's plan with what is planned here instead of what it said of these tasks."""
        kept = (piece for share in plan.shares for piece in _without(share, self.tasks))
        shares = sorted([*kept, *self.shares], key=lambda share: share.first)
        lots = {LotKey(lot.lane, lot.site): lot for lot in (*plan.lots, *self.lots)}
        quotas = {fact.quota: fact for fact in (*plan.quotas, *self.quotas)}
        copies = dict.fromkeys((*plan.copies, *self.copies))
        return replace(
            plan,
            shares=tuple(shares),
            copies=tuple(copies),
            lots=tuple(lots.values()),
            quotas=tuple(quotas[quota] for quota in sorted(quotas)),
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "shares": [share.to_json() for share in self.shares],
            "copies": [asdict(copy) for copy in self.copies],
            "lots": [lot.to_json() for lot in self.lots],
            "quotas": [fact.to_json() for fact in self.quotas],
        }

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Planned:
        found = cls(
            tuple(Share.from_json(share) for share in body["shares"]),
            tuple(restore(Copy, copy) for copy in body["copies"]),
            tuple(Lot.from_json(lot) for lot in body["lots"]),
            tuple(QuotaFact.from_json(fact) for fact in body["quotas"]),
        )
        _check_shares(found.shares)
        return found


def _check_shares(shares: Sequence[Share]) -> None:
    """Raise ValueError unless each share has tasks of its own, beyond those of the one before, and places for them."""
    before = 0
    for share in shares:
        if share.first < before or share.count < 1 or not share.places or share.hours <= 0:
            raise ValueError(f"the share from task {share.first} cannot be")
        if any(place.instances < 1 for place in share.places) or share.limits.max_runtime_s < 1:
            raise ValueError(f"the share from task {share.first} has a place without instances, or no time")
        before = share.first + share.count


def pieces(shares: Iterable[Share], tasks: Ranges) -> Iterator[Share]:
    """Yield the shares with those of these tasks alone that are theirs."""
    for share in shares:
        for first, stop in share.tasks.minus(share.tasks.minus(tasks)).spans:
            yield share.cut(first, stop)


def _without(share: Share, tasks: Ranges) -> Iterator[Share]:
    for first, stop in share.tasks.minus(tasks).spans:
        yield share.cut(first, stop)
