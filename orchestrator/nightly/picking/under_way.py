"""Which tasks of a workload are in whose hands, so that nights of several schedules never train the same ones at once.

workloads/<workload>/under-way.json    the nights that train, each with its tasks; changed by compare-and-set

A night takes its tasks before it trains them, and holds them until it has ended. Nothing is given back: who looks next
leaves out those that have ended.
"""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from orchestrator.conductor.notes import Notes
from orchestrator.errors import AlreadyExists, Damaged, NotFound
from orchestrator.nightly.lost import why_lost
from orchestrator.wire.names import canonical
from orchestrator.wire.stored import VERSION, check_version, damage_named, restore

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from orchestrator.aws.s3 import S3
    from orchestrator.nightly.shelf import Night

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Claim:
    """The tasks that one night has taken."""

    schedule: str
    night: str
    goal: str
    picked: dict[str, Any]
    """All that the night has picked, as JSON: it may be killed before it has written that down itself."""
    keys: frozenset[str]
    """Every key of its tasks."""

    @property
    def name(self) -> str:
        """The words by which messages call the night."""
        return f"{self.schedule}/{self.night}"

    @classmethod
    def of(cls, night: Night, picked: dict[str, Any], keys: frozenset[str]) -> Claim:
        """Return what a night takes."""
        return cls(night.schedule, night.id, night.goal, picked, keys)

    def is_of(self, night: Night) -> bool:
        """Return whether it is this night's."""
        return (self.schedule, self.night) == (night.schedule, night.id)


class UnderWay:
    """The tasks of one workload that are in somebody's hands."""

    def __init__(self, s3: S3, workload: str) -> None:
        self._s3 = s3
        self._key = f"workloads/{workload}/under-way.json"

    def live(self) -> list[Claim]:
        """Return what nights that have not ended have taken."""
        return [claim for claim in self._read()[0] if not self._has_ended(claim)]

    def take(self, night: Night, choose: Callable[[list[Claim]], Claim | None]) -> Claim | None:
        """Return what a night has taken: what it took before, or what `choose` says, given what all others have.

        None, and nothing is taken, if `choose` returns that. It is asked again if somebody takes something meanwhile.
        """
        while True:
            known, etag = self._read()
            mine = next((claim for claim in known if claim.is_of(night)), None)
            if mine:
                return mine
            others = [claim for claim in known if not self._has_ended(claim)]
            wanted = choose(others)
            if wanted is None:
                return None
            try:
                self._s3.put_if(self._key, _written([*others, wanted]), etag)
            except AlreadyExists:
                continue
            return wanted

    def _has_ended(self, claim: Claim) -> bool:
        """Return whether a night holds nothing any more: it has ended, or nobody can go on with it."""
        if Notes(self._s3, claim.goal, f"{claim.schedule}-{claim.night}").has_ended():
            return True
        lost = why_lost(self._s3, claim.schedule, claim.night, claim.goal)
        if lost:
            log.warning("the night %s holds its tasks no more: %s", claim.name, lost)
        return lost is not None

    def _read(self) -> tuple[list[Claim], str | None]:
        try:
            stored = self._s3.get(self._key)
        except NotFound:
            return [], None
        try:
            with damage_named(self._s3.uri(self._key)):
                body = stored.json()
                check_version(body, "list of what is trained now")
                return [restore(Claim, each, keys=_keys) for each in body["nights"]], stored.etag
        except Damaged as error:
            log.warning("%s: it is begun anew, and what other schedules train now may be trained twice", error)
            return [], stored.etag


def find_holders(claims: list[Claim], keys: frozenset[str]) -> Mapping[str, frozenset[str]]:
    """Return which of these keys each claim has, by its name: those alone that have some."""
    found = {claim.name: claim.keys & keys for claim in claims}
    return {name: held for name, held in found.items() if held}


def _keys(body: Any) -> frozenset[str]:
    if not all(isinstance(key, str) for key in body):
        raise ValueError("its keys are no texts")
    return frozenset(body)


def _written(claims: list[Claim]) -> bytes:
    nights = [asdict(claim) | {"keys": sorted(claim.keys)} for claim in claims]
    return canonical({"version": VERSION, "nights": nights}).encode()
