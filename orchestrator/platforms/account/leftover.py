"""What trainings of a platform may leave behind beside their results, and how it is removed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.aws.session import Clients


@dataclass(frozen=True)
class Leftover:
    """Something of a training of ours that nothing uses, such as a volume that its instance did not take along."""

    kind: str
    """What it is, in a word or two."""
    id: str
    platform: str
    region: str
    training: str
    """The training's name, as its tags have it."""
    run: str
    """The run, the task and the attempt that its tags name."""
    task: int
    attempt: int
    output: str
    """The S3 prefix of what the training left behind: it says whose training it was."""


@runtime_checkable
class LeavesBehind(Protocol):
    """An operating part that can also find and remove what trainings leave behind. No platform has to have it."""

    def leftovers(self, clients: Clients, region: str) -> Iterator[Leftover]:
        """Yield what carries the tags of a run in a Region, is no training, and is used by none: `sweep reap` asks."""
        ...

    def remove(self, clients: Clients, leftover: Leftover) -> None:
        """Remove one of these. It is no error if it is gone; it is one if something uses it again."""
        ...
