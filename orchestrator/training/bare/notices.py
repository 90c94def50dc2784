"""Hears that this machine is about to go. EC2 says so in the instance's metadata; pods are told by SIGTERM alone.

It travels into the training: standard library only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.training.metadata import read_metadata
from orchestrator.training.notice import spot_action

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    class Notices(Protocol):
        """Whoever knows whether this machine is about to go."""

        def heard(self) -> str:
            """Return why it is about to go, in words; empty while it is not, or nobody can tell."""
            ...


class NoNotices:
    """The notices of a machine that gets none but SIGTERM."""

    def heard(self) -> str:
        return ""


class SpotNotices:
    """EC2's notices to a spot instance: that it is reclaimed in two minutes, or is likelier to be."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._warned = False
        self._missed = False

    def heard(self) -> str:
        try:
            if not self._warned and read_metadata("meta-data/events/recommendations/rebalance") is not None:
                self._warned = True
                self._say("EC2 recommends to move: this spot instance is likelier to be reclaimed than others")
            action = spot_action()
        except (OSError, ValueError) as error:
            if not self._missed:
                self._say(f"no word from the instance's metadata: {error}")
            self._missed = True
            return ""
        return f"spot notice: {action.get('action')} at {action.get('time')}" if action else ""


def listen(kind: str, say: Callable[[str], None]) -> Notices:
    """Return whoever tells a machine of this kind that it is about to go."""
    return SpotNotices(say) if kind == "instance" else NoNotices()
