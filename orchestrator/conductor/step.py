"""The frame of a strategy: what it sees, and what it may say is to be done next."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

Facts = TypeVar("Facts")


@dataclass(frozen=True)
class Action:
    """Something to be done. Doing it twice must be as good as doing it once: its subject is named, never counted."""

    kind: str
    about: dict[str, Any] = field(default_factory=dict)
    """Plain JSON: whoever reads the note can do it, on any machine."""


@dataclass(frozen=True)
class Done:
    """What became of an action: a value, or the error that ended it for good."""

    value: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    """One line; empty if it went well."""
    exit: int = 0
    """The exit code that belongs to the error."""


@dataclass(frozen=True)
class Note:
    """An action that was decided on, written down before it is done."""

    number: int
    action: Action
    at: float
    """When it was decided, in seconds since the epoch."""
    done: Done | None = None
    """What became of it; None while nobody has finished it."""


@dataclass(frozen=True)
class Seen(Generic[Facts]):
    """All that a decision may rest on."""

    now: float
    notes: tuple[Note, ...]
    """Every note so far, each of them done."""
    facts: Facts


@dataclass(frozen=True)
class Do:
    """Write this action down, then do it."""

    action: Action


@dataclass(frozen=True)
class Wait:
    """Look again at a moment."""

    until: float
    why: str


@dataclass(frozen=True)
class End:
    """Nothing is left to do."""

    exit: int
    """The exit code of whoever did it."""
    why: str


Next = Do | Wait | End


class Strategy(Protocol[Facts]):
    """Decides what a conductor does next, and knows how to do it."""

    def look(self, notes: Sequence[Note]) -> Facts:
        """Return what there is to know of the world now. Nothing is changed."""
        ...

    def step(self, seen: Seen[Facts]) -> Next:
        """Return what is to be done next. It is pure: it asks nobody, and the same sight gives the same answer."""
        ...

    def act(self, action: Action) -> dict[str, Any]:
        """Do it, and return what later steps need to know of it, as plain JSON.

        It may have been done before, in part or wholly, and somebody else may be doing it now. Raise SweepError for
        what will not become better by itself.
        """
        ...
