"""The challengers that were refused: which rule each breaks, and by how much. Put once each, and never changed.

workloads/<workload>/refusals/<run>/<task>-<n>.json    the task was held against promotion n, 0 if there was none
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from orchestrator.errors import Damaged, NewerVersion
from orchestrator.models.promotion import TrainedModel
from orchestrator.wire.names import ModelKeys, canonical
from orchestrator.wire.stored import VERSION, Real, check_version, damage_named, restore

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.aws.s3 import S3
    from orchestrator.errors import SweepError


@dataclass(frozen=True)
class Refusal:
    """A model that did not become a workload's champion."""

    model: TrainedModel
    rule: str
    """The rule that it breaks, as the sweep file calls it, such as promote.floor."""
    why: str
    """One line, with the figures."""
    by: str
    at: float
    champion: int = 0
    """The promotion that it was held against; 0 if there was no champion."""
    champion_score: Real | None = None
    """The champion's score."""


class Refusals:
    """The refused challengers of one workload."""

    def __init__(self, control: S3, workload: str) -> None:
        self._control = control
        self._keys = ModelKeys(workload)

    def add(self, refusal: Refusal) -> None:
        """Write this down, unless the very same was."""
        model = refusal.model
        body = canonical({"version": VERSION} | asdict(refusal)).encode()
        self._control.put_once(self._keys.refusal(model.run, model.task, refusal.champion), body)

    def all(self, leave_out: Callable[[SweepError], None]) -> list[Refusal]:
        """Return every refusal, the newest first. `leave_out` is told of each that cannot be understood."""
        found = []
        for item in self._control.list(self._keys.refusals):
            try:
                found.append(self._read(item.key))
            except (Damaged, NewerVersion) as error:
                leave_out(error)
        return sorted(found, key=lambda refusal: refusal.at, reverse=True)

    def _read(self, key: str) -> Refusal:
        stored = self._control.get(key)
        with damage_named(self._control.uri(key)):
            body = stored.json()
            check_version(body, "refusal")
            found = restore(Refusal, body, model=TrainedModel.from_json)
            canonical(asdict(found))
            return found
