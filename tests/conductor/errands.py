"""A strategy with three errands and an end, on a bucket whose every operation may be a conductor's last."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orchestrator.conductor.notes import Notes
from orchestrator.conductor.step import Action, Do, End, Next, Note, Seen, Wait
from tests.launcher.fakes import Bucket

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

GOAL, INSTANCE = "goal", "nightly-2026-11-20"
ERRANDS = ("pick", "send", "promote")


class Killed(BaseException):
    """The process was killed: nothing in it may catch this."""


@dataclass
class World:
    """What is really there, whoever did it, and a time that passes only when somebody sleeps."""

    bucket: Bucket = field(default_factory=Bucket)
    did: dict[str, str] = field(default_factory=dict)
    """What was made, by its name: made again, it stays."""
    calls: list[str] = field(default_factory=list)
    """Every call that made something, or found it made."""
    moment: float = 1000.0
    ready_at: float = 1200.0
    """When what was sent has ended."""
    before: Callable[[str], None] = lambda _: None

    def notes(self) -> Notes:
        """The notes, as a process that was started just now has them."""
        return Notes(self.bucket, GOAL, INSTANCE)  # type: ignore[arg-type]

    def now(self) -> float:
        return self.moment

    def sleep(self, seconds: float) -> None:
        self.before("sleep")
        self.moment += seconds


class Errands:
    """Does the errands in turn; between sending and promoting it waits."""

    def __init__(self, world: World) -> None:
        self.world = world

    def look(self, notes: Sequence[Note]) -> bool:  # noqa: ARG002
        """Whether what was sent has ended."""
        self.world.before("look")
        return self.world.moment >= self.world.ready_at

    def step(self, seen: Seen[bool]) -> Next:
        failed = next((note.done for note in seen.notes if note.done and note.done.error), None)
        if failed:
            return End(failed.exit, failed.error)
        if len(seen.notes) == len(ERRANDS):
            return End(0, "all errands are done")
        if len(seen.notes) == 2 and not seen.facts:
            return Wait(seen.now + 600, "what was sent still runs")
        kind = ERRANDS[len(seen.notes)]
        before = [note.done.value["made"] for note in seen.notes if note.done]
        return Do(Action(kind, {"after": before}))

    def act(self, action: Action) -> dict[str, Any]:
        self.world.before(f"act {action.kind}")
        self.world.calls.append(action.kind)
        made = self.world.did.setdefault(action.kind, f"{action.kind}-1")
        self.world.before(f"acted {action.kind}")
        return {"made": made}
