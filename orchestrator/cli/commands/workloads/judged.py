"""Models that were held against a champion, as a listing shows them: those that took its place, and the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.cli import formatting
from orchestrator.cli.render import Column

if TYPE_CHECKING:
    from orchestrator.api import Promotion, Refusal
    from orchestrator.cli.session import Session


@dataclass(frozen=True)
class Judged:
    """A model that is or was champion, or was refused."""

    workload: str
    number: int | None
    """The number of its promotion; None if it was refused."""
    run: str
    task: int
    metric: str
    score: float | None
    champion: int
    """The promotion that it was held against; 0 if there was none."""
    how: str
    """The way in which it became champion; or `refused`."""
    rule: str
    """The rule that it breaks; empty if it was not refused."""
    why: str
    at: float
    by: str

    @classmethod
    def promoted(cls, made: Promotion) -> Judged:
        """Return the row of a promotion."""
        model, how = made.model, made.how.replace("_", " ")
        return cls(
            workload=model.workload,
            number=made.number,
            run=model.run,
            task=model.task,
            metric=model.metric,
            score=model.score,
            champion=made.before,
            how=how,
            rule="",
            why=made.why,
            at=made.at,
            by=made.by,
        )

    @classmethod
    def refused(cls, refusal: Refusal) -> Judged:
        """Return the row of a refused challenger."""
        model = refusal.model
        return cls(
            workload=model.workload,
            number=None,
            run=model.run,
            task=model.task,
            metric=model.metric,
            score=model.score,
            champion=refusal.champion,
            how="refused",
            rule=refusal.rule,
            why=refusal.why,
            at=refusal.at,
            by=refusal.by,
        )


def judged(session: Session, workload: str) -> list[Judged]:
    """Return all that was held against the champions of a workload, the newest first."""
    models = session.models
    rows = [Judged.promoted(made) for made in models.history(workload, session.note_damage)]
    rows += [Judged.refused(refusal) for refusal in models.refused(workload, session.note_damage)]
    return sorted(rows, key=lambda row: (row.at, row.number or 0), reverse=True)


COLUMNS: tuple[Column[Judged], ...] = (
    Column("number", lambda row: "" if row.number is None else str(row.number), right=True),
    Column("score", lambda row: row.score, formatting.number, right=True),
    Column("metric", lambda row: row.metric),
    Column("run", lambda row: row.run),
    Column("task", lambda row: row.task, right=True),
    Column("how", lambda row: row.how),
    Column("rule", lambda row: row.rule),
    Column("at", lambda row: row.at, formatting.moment),
    Column("by", lambda row: row.by),
    Column("against", lambda row: str(row.champion or ""), right=True),
    Column("why", lambda row: row.why),
)
