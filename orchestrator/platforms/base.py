"""What a platform must be able to do. `conformance.py` holds every platform against it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.wire.result import Outcome
    from orchestrator.wire.task import Lane, Place, Task
    from orchestrator.wire.template import Template


@dataclass(frozen=True)
class Request:
    """One training, ready to be started: a value, so a dry run is a look at it."""

    lane: Lane
    training: str
    body: dict[str, Any]
    """What is sent to AWS, exactly."""
    hash: str
    """Of the body: who finds the name in use adopts the training only if its tag carries this."""


@dataclass(frozen=True)
class Handle:
    """Where a training is to be found again, by its recorded name in its own Region."""

    lane: Lane
    training: str
    rate: float
    instances: int


class Platform(Protocol):
    """One way of running a training. Stateless: two processes with the same handle see the same training."""

    name: str

    def request(self, template: Template, task: Task, place: Place, attempt: int, max_runtime_s: int) -> Request:
        """The training as this platform's API takes it. Pure: same arguments, same bytes."""
        ...

    def start(self, request: Request) -> None:
        """Start it, or adopt the one that runs under its name with our request hash.

        Raises AlreadyExists when the name belongs to a training of another hash; QuotaExceeded, NoCapacity, Throttled,
        Unreachable when waiting or another place may help; InvalidRequest, AccessDenied when nothing will.
        """
        ...

    def poll(self, attempt: int, handle: Handle) -> Outcome | None:
        """How it stands; None when its own Region says that there is no such training."""
        ...

    def stop(self, handle: Handle) -> None:
        """Ask it to stop. Stopping what has ended, or never was, is no error."""
        ...

    def logs(self, handle: Handle, after: dict[str, str], *, first: bool = False) -> Iterator[tuple[str, str]]:
        """(stream, line) pairs not yet seen; `after` holds a token per stream and is brought up to date.

        `first`: of the first instance only, where rank 0 is; its streams in the order they were begun.
        """
        ...
