"""What a night does next: pick what is new, plan it, submit it, wait for it, write down what is trained. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orchestrator.conductor.step import Action, Do, End, Wait

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orchestrator.conductor.step import Next, Note, Seen

TRIES = 6
"""Times that a piece is planned, if its plan no longer holds, or its slots were taken, when it is submitted."""
TRY_AGAIN_S = 600.0
"""Seconds until the next time."""
LOOK_S = 60.0
"""Seconds between two looks at what runs, at the most."""
REFUSED = 6
"""The exit code of what may be possible later: quotas, slots, a stale plan."""
PARTLY = 5


@dataclass(frozen=True)
class Standing:
    """A run of this night, as it stands."""

    tasks: int
    done: int
    finished: bool
    """Nothing of it runs, and nothing more of it will begin by itself."""
    usd: float = 0.0


@dataclass(frozen=True)
class Sight:
    """What a night sees of the world."""

    runs: Mapping[str, Standing] = field(default_factory=dict)
    """Its own runs, by name."""
    earlier: tuple[str, ...] = ()
    """Earlier nights of the same schedule that have not ended."""
    training: tuple[str, ...] = ()
    """Nights of this workload that train what this one would, and have not ended."""
    replaced_by: str = ""
    """The night that has taken the place of this one; empty if none has."""


@dataclass(frozen=True)
class Manners:
    """What a schedule says of all its nights."""

    overlap: str = "skip"
    """What is done while an earlier night still runs."""
    promotes: bool = False
    """The best of what was trained is held against the champion."""
    look_s: float = LOOK_S
    """Seconds between two looks at what runs."""


def step_night(manners: Manners, run_names: Sequence[str], seen: Seen[Sight]) -> Next:
    """Return what a night does next. `run_names` has the name of the run of each piece."""
    book = _Book(seen.notes)
    if seen.facts.replaced_by and book.last("record") is None:
        return _give_way(book, seen.facts.replaced_by, run_names)
    picked = book.last("pick")
    if picked is None:
        return _begin(book, manners, seen)
    if picked.done is None or picked.done.error:
        return _failed(picked)
    if behind := behind_whom(picked):
        return _queue(picked, [name for name in behind if name in seen.facts.training], seen.now + manners.look_s)
    pieces = picked.done.value["pieces"]
    if not pieces:
        return End(0, picked.done.value["why"])
    for piece in range(pieces):
        wanted = _send(book, piece, run_names[piece], seen.now)
        if wanted:
            return wanted
    runs = {run_names[piece]: seen.facts.runs[run_names[piece]] for piece in range(pieces) if book.is_sent(piece)}
    if not runs:
        return _failed(book.errors()[-1])
    running = [name for name, standing in runs.items() if not standing.finished]
    if running:
        return Wait(seen.now + manners.look_s, f"{', '.join(running)} {'runs' if len(running) == 1 else 'run'}")
    return _after(book, runs, promotes=manners.promotes)


def _after(book: _Book, runs: Mapping[str, Standing], *, promotes: bool) -> Next:
    """Return what is done once all runs of a night have ended."""
    recorded = book.last("record")
    if recorded is None:
        return Do(Action("record", {"runs": sorted(runs)}))
    if recorded.done is not None and recorded.done.error:
        return _failed(recorded)
    some_done = sorted(name for name, standing in runs.items() if standing.done)
    if promotes and some_done and book.last("judge") is None:
        return Do(Action("judge", {"runs": some_done}))
    return _end(runs, book)


class _Book:
    """The notes of a night, as it asks for them."""

    def __init__(self, notes: Sequence[Note]) -> None:
        self._notes = notes

    def last(self, kind: str, piece: int | None = None) -> Note | None:
        """Return the newest note of this kind, of a piece if one is given; None if there is none."""
        of_kind = [note for note in self._notes if note.action.kind == kind]
        return next((note for note in reversed(of_kind) if piece in (None, note.action.about.get("piece"))), None)

    def is_sent(self, piece: int) -> bool:
        """Return whether this piece has become a run."""
        note = self.last("submit", piece)
        return note is not None and note.done is not None and not why_lost(note)

    def begun(self) -> list[int]:
        """Return every piece whose submission was begun, whatever became of it."""
        return [note.action.about["piece"] for note in self._notes if note.action.kind == "submit"]

    def errors(self) -> list[Note]:
        """Return the note of each piece that came to nothing, in their order."""
        pieces = sorted({note.action.about["piece"] for note in self._notes if "piece" in note.action.about})
        lost = [piece for piece in pieces if not self.is_sent(piece)]
        return [note for piece in lost if (note := self.last("submit", piece) or self.last("plan", piece))]


def _begin(book: _Book, manners: Manners, seen: Seen[Sight]) -> Next:
    """Decide what becomes of a night while earlier ones still run."""
    earlier = seen.facts.earlier
    if not earlier or (manners.overlap == "replace" and book.last("replace")):
        return Do(Action("pick"))
    names = ", ".join(earlier)
    if manners.overlap == "skip":
        return End(0, f"skipped: {names} still runs")
    if manners.overlap == "queue":
        return Wait(seen.now + manners.look_s, f"{names} still runs")
    return Do(Action("replace", {"nights": list(earlier)}))


def _queue(picked: Note, training: Sequence[str], until: float) -> Next:
    """Wait until nobody trains any more what this night would; then look anew what there is to train."""
    if training:
        return Wait(until, f"{', '.join(training)} trains the same tasks")
    return Do(Action("pick", {"try": picked.action.about.get("try", 1) + 1}))


def _give_way(book: _Book, other: str, run_names: Sequence[str]) -> Next:
    """Cancel what was begun for a night that another one takes the place of, then end."""
    begun = book.begun()
    if begun and book.last("cancel") is None:
        return Do(Action("cancel", {"runs": sorted({run_names[piece] for piece in begun})}))
    return End(PARTLY, f"replaced by {other}")


def _send(book: _Book, piece: int, run: str, now: float) -> Next | None:
    """Return what is to be done for a piece to become a run; None once it has, or never will."""
    planned, sent = book.last("plan", piece), book.last("submit", piece)
    if planned is None:
        return Do(Action("plan", {"piece": piece, "try": 1}))
    tries = planned.action.about["try"]
    failed = sent if sent is not None and sent.action.about["try"] == tries else planned
    if failed.done is not None and failed.done.error:
        if failed.done.exit != REFUSED or tries >= TRIES:
            return None
        if now < failed.at + TRY_AGAIN_S:
            return Wait(failed.at + TRY_AGAIN_S, f"refused for now: {failed.done.error}")
        return Do(Action("plan", {"piece": piece, "try": tries + 1}))
    if failed is planned:
        return Do(Action("submit", {"piece": piece, "try": tries, "run": run}))
    return None


def _failed(note: Note | None) -> End:
    if note is None or note.done is None:
        return End(1, "nothing was done")
    return End(note.done.exit or REFUSED, why_lost(note))


def _end(runs: Mapping[str, Standing], book: _Book) -> End:
    """Return how a night ends whose runs have ended, with what became of its other pieces and of its best model."""
    tasks = sum(standing.tasks for standing in runs.values())
    done = sum(standing.done for standing in runs.values())
    words = [f"{done:,} of {tasks:,} tasks done in {', '.join(sorted(runs))}"]
    lost = sorted({why for note in book.errors() if (why := why_lost(note))})
    if lost:
        words.append(f"not submitted: {'; '.join(lost)}")
    judged = book.last("judge")
    unjudged = judged is not None and judged.done is not None and judged.done.error
    if judged is not None and judged.done is not None:
        words.append(f"not judged: {judged.done.error}" if unjudged else judged.done.value["why"])
    if done == tasks and not lost and not unjudged:
        return End(0, "; ".join(words))
    return End(PARTLY if done else 1, "; ".join(words))


def why_lost(note: Note) -> str:
    """Return why a piece did not become a run; empty if it did, or may yet."""
    if note.done is None:
        return ""
    return note.done.error or str(note.done.value.get("refused", ""))


def words_of_nothing(trained: int, left_out: Sequence[str]) -> str:
    """Return in one line why a night has nothing to train."""
    words = f"nothing new: all {trained:,} tasks are trained already" if trained else "nothing to train"
    return f"{words}; left out: {', '.join(left_out)}" if left_out else words


def about_pick(pieces: int, tasks: int, why: str) -> dict[str, Any]:
    """Return what later steps know of a pick."""
    return {"pieces": pieces, "tasks": tasks, "why": why}


def about_wait(behind: Sequence[str]) -> dict[str, Any]:
    """Return what later steps know of a pick that has to wait for these nights."""
    return {"behind": list(behind)}


def behind_whom(picked: Note) -> list[str]:
    """Return the nights that a pick has to wait for; nothing of one that need not."""
    found: list[str] = picked.done.value.get("behind", []) if picked.done else []
    return found
