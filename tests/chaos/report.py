"""What was injected, what was counted, and which promises were broken: one table for all parts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

PROMISES = ("lost", "alive twice", "done twice", "orphans", "stuck", "bugs", "untrue")
"""The promises that a story can break."""
PLACES = ("call", "answer", "under way", "commit", "committed", "line", "copy")
"""Where somebody is killed: before a call to AWS, after its answer, while AWS still does it, before a commit, after it,
at a line, beside the copy of a checkpoint's object."""


@dataclass
class Report:
    """What one story, or several, have met and found."""

    kills: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Kills by who was killed and where."""
    faults: Counter[str] = field(default_factory=Counter)
    """Calls that were hit by a fault, and machines that were lost, by kind."""
    broken: list[tuple[str, str]] = field(default_factory=list)
    """Promises that were broken, each with what was seen."""
    runs: int = 0
    tasks: int = 0
    trainings: int = 0
    by_platform: Counter[str] = field(default_factory=Counter)
    """Attempts of tasks by their platform, where there are several."""
    moves: Counter[str] = field(default_factory=Counter)
    """Times that a task went on in another Region from a checkpoint that was brought there, by where it came from."""
    restarts: int = 0
    """Further beginnings of one elastic attempt."""
    bills: int = 0
    """Trainings whose bill was compared."""

    def find(self, promise: str, what: str) -> None:
        self.broken.append((promise, what))

    def add(self, other: Report) -> None:
        self.kills += other.kills
        self.faults += other.faults
        self.broken += other.broken
        self.runs += other.runs
        self.tasks += other.tasks
        self.trainings += other.trainings
        self.by_platform += other.by_platform
        self.moves += other.moves
        self.restarts += other.restarts
        self.bills += other.bills

    @property
    def injected(self) -> int:
        """How many faults and kills there were."""
        return self.kills.total() + self.faults.total()

    def table(self, title: str) -> str:
        """Return what was injected and what was broken, as text."""
        rows = [["killed", *PLACES]]
        for who in sorted({who for who, _ in self.kills}):
            rows.append([who, *(str(self.kills[who, place]) for place in PLACES)])
        widths = [max(len(row[column]) for row in rows) for column in range(len(PLACES) + 1)]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        broken = Counter(promise for promise, _ in self.broken)
        where = ", ".join(f"{count} on {platform}" for platform, count in self.by_platform.most_common())
        left = ", ".join(f"{count} from {platform}" for platform, count in self.moves.most_common())
        return "\n".join(
            [
                f"{title}: {self.runs} runs of {self.tasks} tasks, {self.trainings} trainings,"
                f" {self.bills} bills compared",
                *([f"attempts: {where}"] if where else []),
                *([f"moves to another Region: {left}"] if left else []),
                *([f"restarts of elastic trainings: {self.restarts}"] if self.restarts else []),
                *(lines if self.kills else []),
                "faults: " + (", ".join(f"{kind} {count}" for kind, count in self.faults.most_common()) or "none"),
                f"{self.kills.total()} kills and {self.faults.total()} faults: "
                + ", ".join(f"{promise} {broken[promise]}" for promise in PROMISES),
            ]
        )
