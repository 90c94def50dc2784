"""The plan: which ranges of tasks go to which places. Small, immutable, named by its content's hash."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.spec.sweep import Sweep
from orchestrator.wire.names import digest
from orchestrator.wire.task import Lane, Limits, Place, Task

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True)
class Dataset:
    name: str
    bytes: int


@dataclass(frozen=True)
class Share:
    """Tasks first..first+count-1, of one cohort, sent to one ranked list of places."""

    first: int
    count: int
    dataset: int
    places: tuple[Place, ...]
    hours: float
    """Of one task at its first place."""
    usd: float
    """Expected, of one task at its first place."""
    limits: Limits
    why: str = ""


@dataclass(frozen=True)
class Plan:
    sweep: Sweep
    market: str
    """Hash of the Market it was made from."""
    datasets: tuple[Dataset, ...]
    shares: tuple[Share, ...]
    notes: tuple[str, ...] = ()

    @property
    def tasks(self) -> int: ...
    @property
    def usd(self) -> float: ...
    @property
    def hours(self) -> float: ...
    @property
    def regions(self) -> tuple[str, ...]:
        """Every Region a task may come to run in, first choice or fallback."""
        ...
    @cached_property
    def id(self) -> str:
        return digest(self.to_json())
    def task(self, number: int, *, code: str, after: int = 0) -> Task: ...
    def to_json(self) -> dict[str, Any]: ...
    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Plan: ...
    # read(path) / write(plan, path): the file adds `id` and `folder` (relative to the file), which are not content


def read(path: Path) -> Plan: ...
