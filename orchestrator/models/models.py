"""The champions of a team's workloads: which model they are, how one takes another's place, and how it is fetched.

    models = Models(orchestrator.cloud, orchestrator.settings.owner, marks)
    decision = models.challenge(run)          # after a run has ended; repeating it is harmless
    models.promote(run, task=7)               # a person says so
    models.rollback("steering")
    models.champion("steering").model.artifact

A promotion is put once, under the number after the newest. If somebody else takes that number, the challenger is held
against the new champion, and decided again.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from orchestrator.errors import Damaged, NewerVersion, NotFound, Refused, SweepError, UsageError, did_you_mean
from orchestrator.models.challenger import find_challenger, named_challenger
from orchestrator.models.judge import judge
from orchestrator.models.promotion import BY_HAND, CHALLENGE, ROLLBACK, Promotion
from orchestrator.models.readers import tell_readers
from orchestrator.models.refusals import Refusal, Refusals
from orchestrator.models.shelf import Shelf, workloads
from orchestrator.models.warm_start import warmed
from orchestrator.runs.artifacts import Fetched, fetch_artifact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from orchestrator.models.challenger import Marks
    from orchestrator.models.judge import Verdict
    from orchestrator.models.promotion import TrainedModel
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.run import Run
    from orchestrator.spec.sweep import Sweep


log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Decision:
    """What became of a challenger."""

    promoted: bool
    why: str
    """One line: `task 3 of nightly: it is better: its loss is 0.31, the champion's 0.35`."""
    challenger: TrainedModel
    champion: Promotion | None
    """The champion after the decision; None if there is still none."""
    notes: tuple[str, ...] = ()
    repeated: bool = False
    """It had been decided before: nothing was written now."""


class Models:
    """The champions of the workloads of one control bucket."""

    def __init__(self, cloud: Cloud, who: str, marks: Marks = lambda _dataset, _region: "") -> None:
        """Take who promotes, and `marks`, which returns the mark of a dataset in a Region as far as it is known."""
        self.cloud = cloud
        self.who = who
        self.marks = marks

    def workloads(self) -> list[str]:
        """Return the workloads that have a champion, by name."""
        return workloads(self.cloud.s3)

    def challenged(self) -> list[str]:
        """Return the workloads that have a champion, or whose challengers were refused, by name."""
        return workloads(self.cloud.s3, refused=True)

    def find(self, workload: str) -> Promotion | None:
        """Return the newest promotion, whose model is the champion; None if there is none. Damaged names a bad one."""
        return Shelf(self.cloud.s3, workload).newest()

    def champion(self, workload: str) -> Promotion:
        """Return the newest promotion, whose model is the champion. UsageError if there is none."""
        found = self.find(workload)
        if found is None:
            hint = did_you_mean(workload, self.workloads()) or "`sweep models promote RUN` makes the first"
            raise UsageError(f"no champion of {workload!r}", where=f"s3://{self.cloud.s3.bucket}", hint=hint)
        return found

    def champions(self, leave_out: Callable[[SweepError], None]) -> list[Promotion]:
        """Return the champion of each workload. `leave_out` is told of each that cannot be understood."""
        found = []
        for workload in self.workloads():
            try:
                found.append(self.champion(workload))
            except (Damaged, NewerVersion) as error:
                leave_out(error)
        return found

    def read(self, workload: str, number: int) -> Promotion:
        """Return this promotion. UsageError if there is none."""
        try:
            return Shelf(self.cloud.s3, workload).read(number)
        except NotFound as error:
            hint = f"`sweep models show {workload}` lists them"
            raise UsageError(f"{workload!r} has no promotion {number}", hint=hint) from error

    def history(self, workload: str, leave_out: Callable[[SweepError], None]) -> list[Promotion]:
        """Return all promotions, the newest first. `leave_out` is told of each that cannot be understood."""
        shelf, found = Shelf(self.cloud.s3, workload), []
        for number in shelf.numbers():
            try:
                found.append(shelf.read(number))
            except (Damaged, NewerVersion) as error:
                leave_out(error)
        return found

    def refused(self, workload: str, leave_out: Callable[[SweepError], None]) -> list[Refusal]:
        """Return the challengers that were refused, the newest first. `leave_out` is told of each that is damaged."""
        return Refusals(self.cloud.s3, workload).all(leave_out)

    def challenge(self, run: Run) -> Decision:
        """Hold the best task of a run against the champion of its workload, and promote it if it is better.

        A run that was promoted from before is not looked at again. UsageError if no task of it is done.
        """
        made = next((each for each in self._made_of(run) if each.how == CHALLENGE), None)
        if made:
            return self._repeated(made)
        return self._decide(find_challenger(run, self.marks, self.find(run.plan.sweep.name)), run)

    def promote(self, run: Run, task: int, *, force: bool = False) -> Decision:
        """Promote this task of a run if it is better than the champion; with `force`, whatever it is.

        A task that was promoted before is not promoted again. UsageError if it is not done or has left no model.
        """
        made = next((each for each in self._made_of(run) if each.model.task == task), None)
        if made:
            return self._repeated(made)
        challenger = named_challenger(run, task, self.marks)
        if not challenger.artifact:
            raise UsageError(
                f"{challenger.name} has left no model in S3", hint="the first line of `sweep why` says more"
            )
        return self._decide(challenger, run, force=force)

    def rollback(self, workload: str, to: int | None = None) -> Promotion:
        """Make what was champion before it again, or the model of promotion `to`. Return the new promotion.

        UsageError if there was none before. Nothing is written where that model is the champion already.
        """
        shelf = Shelf(self.cloud.s3, workload)
        while True:
            numbers = shelf.numbers()
            if to is None:
                now = self.champion(workload)
                target = self._before(now)
            else:
                target = self.read(workload, to)
                now = _readable(shelf, numbers[0]) or replace(target, number=numbers[0], origin=0)
            if target.origin == now.origin:
                tell_readers(workload, self.cloud, self.find)
                return now
            why = f"promotion {target.number} again, instead of {now.number}"
            changes = {"number": numbers[0] + 1, "how": ROLLBACK, "why": why, "before": now.number}
            made = replace(target, by=self.who, at=time.time(), **changes)  # type: ignore[arg-type]
            if shelf.add(made):
                tell_readers(workload, self.cloud, self.find)
                return made

    def warm(self, sweep: Sweep) -> Sweep:
        """Return the sweep with what it takes from its champion, as its `warm_start` says; as it is, if there is none.

        SpecError if it has a channel of its own where the model's would be.
        """
        if sweep.warm_start is None:
            return sweep
        champion = self.find(sweep.name)
        if champion is None:
            log.warning("%s has no champion yet: its trainings start cold", sweep.name)
            return sweep
        return warmed(sweep, champion, self.cloud.account.region_bucket)

    def fetch(self, workload: str, folder: Path, *, force: bool = False) -> Iterator[Fetched]:
        """Write the champion into a folder, and yield each file. UsageError for a file that is there already."""
        model = self.champion(workload).model
        if not model.artifact:
            raise UsageError(f"the champion of {workload!r} has left no model in S3", where=model.name)
        return fetch_artifact(model, folder, self.cloud.clients, force=force)

    def bring_up_pointers(self) -> None:
        """Let each workload's pointer name its champion, where a promotion was stopped before it did."""
        for workload in self.workloads():
            newest = self.find(workload)
            if newest:
                Shelf(self.cloud.s3, workload).point_to(newest)

    def _decide(self, challenger: TrainedModel, run: Run, *, force: bool = False) -> Decision:
        """Hold a challenger against the champion, and promote it if it is better, or if somebody says so."""
        decided = self._decided(challenger, run, force=force)
        tell_readers(challenger.workload, self.cloud, self.find)
        return decided

    def _decided(self, challenger: TrainedModel, run: Run, *, force: bool) -> Decision:
        shelf = Shelf(self.cloud.s3, challenger.workload)
        while True:
            champion = shelf.newest()
            if champion and (champion.model.run, champion.model.task) == (challenger.run, challenger.task):
                return self._repeated(champion)  # somebody was a moment ahead of us with the very same
            verdict = judge(challenger, champion, run.plan.sweep.promote)
            if not verdict.better and not force:
                self._write_down(challenger, champion, verdict)
                return Decision(False, f"{challenger.name}: {verdict.why}", challenger, champion, verdict.notes)
            number = champion.number + 1 if champion else 1
            how = CHALLENGE if verdict.better else BY_HAND
            why = verdict.why if verdict.better else f"{self.who} said so, though {verdict.why}"
            before = champion.number if champion else 0
            made = Promotion(number, challenger, how, why, self.who, time.time(), before, origin=number)
            if shelf.add(made):
                return Decision(True, f"{challenger.name}: {why}", challenger, made, verdict.notes)

    def _write_down(self, challenger: TrainedModel, champion: Promotion | None, verdict: Verdict) -> None:
        refusal = Refusal(challenger, verdict.rule, verdict.why, self.who, time.time())
        if champion:
            refusal = replace(refusal, champion=champion.number, champion_score=champion.model.score)
        Refusals(self.cloud.s3, challenger.workload).add(refusal)

    def _made_of(self, run: Run) -> Iterator[Promotion]:
        """Yield the promotions of a run's tasks, the newest first, but for rollbacks to them."""
        shelf = Shelf(self.cloud.s3, run.plan.sweep.name)
        return (
            each for each in shelf.since(run.anchor.created_at) if each.model.run == run.name and each.how != ROLLBACK
        )

    def _repeated(self, made: Promotion) -> Decision:
        shelf = Shelf(self.cloud.s3, made.model.workload)
        champion = shelf.newest()
        if champion and champion.number == made.number:
            shelf.point_to(made)  # whoever promoted it may have been stopped before it did
            tell_readers(made.model.workload, self.cloud, self.find)
        return Decision(
            True, f"{made.model.name}: promotion {made.number} already", made.model, champion, repeated=True
        )

    def _before(self, now: Promotion) -> Promotion:
        """Return the promotion whose model was champion before that of this one was promoted first."""
        first = self.read(now.model.workload, now.origin) if now.origin != now.number else now
        if not first.before:
            raise UsageError(f"{now.model.workload!r} had no champion before this one", hint="--to names a promotion")
        return self.read(now.model.workload, first.before)


def refuse(decision: Decision) -> None:
    """Raise Refused unless the challenger was promoted."""
    if not decision.promoted:
        raise Refused(f"not promoted: {decision.why}", hint="--force with --task promotes it all the same")


def _readable(shelf: Shelf, number: int) -> Promotion | None:
    """Return this promotion; None if it is damaged."""
    try:
        return shelf.read(number)
    except Damaged:
        return None
