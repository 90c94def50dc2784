"""One run, opened: what it is, how it stands, and what may be done with it.

What a verb needs is imported when it is called: to show how a run stands takes little.
"""

from __future__ import annotations

import logging
import time
from functools import cached_property, partial
from itertools import count
from typing import TYPE_CHECKING

from orchestrator.errors import Damaged, NewerVersion
from orchestrator.runs.patience import PASSING, Patience
from orchestrator.runs.views.status import run_status
from orchestrator.runs.views.tasks import task_rows, to_keep, with_curves, with_kept, with_read
from orchestrator.runs.written.anchor import submissions
from orchestrator.runs.written.plan_now import planned_now
from orchestrator.runs.written.submission import everything
from orchestrator.wire.ranges import Ranges

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from orchestrator.plan.plan import Plan
    from orchestrator.runs.artifacts import Fetched
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.ending.proof import Stopped
    from orchestrator.runs.known.ledger import Ledger
    from orchestrator.runs.reproduce import Reproduced
    from orchestrator.runs.sending.proposal import Proposal
    from orchestrator.runs.sending.replan import Moved
    from orchestrator.runs.views.beside import Beside
    from orchestrator.runs.views.costs import CostRow
    from orchestrator.runs.views.logs import LogLine
    from orchestrator.runs.views.status import Status
    from orchestrator.runs.views.tasks import TaskRow
    from orchestrator.runs.why.hindrance import Hindrance
    from orchestrator.runs.why.story import Story
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.runs.written.submission import Submission

log = logging.getLogger(__name__)

LOOKS_A_BEST = 5
"""Looks of `watch` from one reading of what tasks have measured to the next."""


class Run:
    """A run. `sync` and everything that changes the run talk to AWS; the rest reads the database."""

    def __init__(self, anchor: Anchor, ledger: Ledger, open_cloud: Callable[[], Cloud]) -> None:
        self.anchor = anchor
        self.ledger = ledger
        self._open_cloud = open_cloud

    @property
    def name(self) -> str:
        return self.anchor.name

    @property
    def plan(self) -> Plan:
        return self.anchor.plan

    @property
    def _planned_now(self) -> Anchor:
        """The run with its plan as its submissions have left it, as far as the database knows them."""
        return planned_now(self.anchor, self.ledger.submissions(self.name))

    @cached_property
    def cloud(self) -> Cloud:
        return self._open_cloud()

    def sync(self, *, documents: bool = True) -> int:
        """Bring the database up to date. Return how many tasks changed.

        Without `documents` it learns how tasks stand and what they cost: all that `status` shows. With them, it reads
        of each task that changed why it ended so, what it measured and what each attempt cost.
        """
        from orchestrator.runs.known.sync import sync

        return sync(self.anchor, self.ledger, self.cloud, documents=documents)

    def sync_as_far_as_possible(self, *, documents: bool = True) -> int:
        """Bring the database up to date. An object that all tasks share, and nobody understands, is noted.

        Then only the results tell how tasks stand, and nothing is said of launchers.
        """
        from orchestrator.runs.known.sync import read_results

        try:
            return self.sync(documents=documents)
        except (Damaged, NewerVersion) as error:
            self.ledger.damage.note(error)
        return read_results(self.anchor, self.ledger, self.cloud, documents=documents)

    def status(self) -> Status:
        return run_status(self.anchor, self.ledger, time.time())

    def watch(self, every_s: float = 2.0) -> Iterator[Status]:
        """Yield the status again and again, until the run has finished. A call that is throttled is made again.

        What cannot be understood is noted and left out: the rest is watched to its end.
        """
        patience, warned = Patience(), False
        for look in count(1):
            patience.ask(partial(self.sync_as_far_as_possible, documents=look % LOOKS_A_BEST == 0))
            status = self.status()
            if status.finished or self._waits_for_damage():
                patience.ask(self.sync_as_far_as_possible)
                yield self.status()
                return
            yield status
            warned = warned or self.warn_of_unsent(time.time())
            time.sleep(every_s)

    def best(self) -> TaskRow | None:
        """Return the best task so far by the sweep's objective, as far as the database knows; None if there is none."""
        rows = self.results()
        return rows[0] if rows and rows[0].score is not None else None

    def warn_of_unsent(self, now: float) -> bool:
        """Return whether there are tasks that nobody has sent, with a warning: watching them is in vain."""
        from orchestrator.runs.why.unsent import find_unsent

        tasks, _ = find_unsent(self.anchor, self.ledger.submissions(self.name), self.ledger, now)
        if tasks:
            words = "%d tasks of run %s were never sent: `sweep retry %s` sends them"
            log.warning(words, len(tasks), self.name, self.name)
        return bool(tasks)

    def _waits_for_damage(self) -> bool:
        """Return True if nothing is left to wait for but tasks whose results cannot be understood."""
        unknown = self.ledger.damage.tasks(self.name)
        return bool(unknown) and unknown.issuperset(self.ledger.unfinished(self.name, self.anchor.tasks))

    def results(self, tasks: Ranges | None = None) -> list[TaskRow]:
        """Return a row for each task, best first by the sweep's objective."""
        wanted = self.anchor.tasks if tasks is None else self.anchor.checked(tasks)
        rows = task_rows(self._planned_now, self.ledger.known(self.name, tasks), wanted, time.time())
        return with_kept(rows, self.ledger.measured(self.name), self.plan.sweep.objective)

    def measure(
        self, rows: list[TaskRow], regexes: Mapping[str, re.Pattern[str]], *, keep: bool = False
    ) -> list[TaskRow]:
        """Return the same results with what these regexes find in the logs, best first.

        With `keep`, what is found of tasks that have ended is kept with the run: whoever asks for its results sees it.
        """
        from orchestrator.runs.views.logs import Logs

        read = Logs(self.cloud, self.name, self.ledger.damage).measure(regexes, Ranges.of(row.task for row in rows))
        if keep:
            self.cloud.control(self.name).keep(to_keep(rows, read.found, regexes))
            self.sync_as_far_as_possible()
        return with_read(rows, read, regexes, self.plan.sweep.objective)

    def with_curves(self, rows: list[TaskRow]) -> list[TaskRow]:
        """Return the same results, with what their trainings have reported step by step."""
        return with_curves(rows, self.ledger.known(self.name), self.ledger.measured(self.name))

    def draw(self, rows: list[TaskRow], form: str) -> bytes:
        """Return the learning curves of these results, as `svg` or `png`."""
        from orchestrator.chart.encode import encode
        from orchestrator.runs.views.curve_chart import draw_curves

        return encode(draw_curves(rows, self.plan.sweep.objective), form)

    def fetch_artifacts(self, rows: Iterable[TaskRow], folder: Path, *, force: bool = False) -> Iterator[Fetched]:
        """Write what these tasks have left in S3 into a folder, a folder a task, and yield each file.

        UsageError, before anything is written, for a file that is there already, unless `force` says to replace it.
        """
        from orchestrator.runs.artifacts import fetch_artifacts

        return fetch_artifacts(rows, folder, self.cloud.clients, force=force)

    def cost(self) -> list[CostRow]:
        from orchestrator.runs.views.costs import cost_rows

        return cost_rows(self.ledger.known(self.name))

    def beside(self, *, stored: bool = True) -> Beside:
        """Return what it costs beside its trainings; unless `stored`, nobody asks S3 what it keeps there."""
        from orchestrator.runs.views.beside import costs_beside, read_storage_prices

        cloud, prices = self.cloud if stored else None, read_storage_prices(self.ledger.engine)
        return costs_beside(self._planned_now, self.ledger.known(self.name), cloud, prices)

    def logs(self, tasks: Ranges | None = None, *, follow: bool = False, every_s: float = 2.0) -> Iterator[LogLine]:
        """Yield what the trainings have written; with `follow`, as they write it, until the run has finished.

        Attempts and templates are read from the control bucket: the database need not know of them.
        """
        from orchestrator.runs.views.logs import Logs

        tasks = None if tasks is None else self.anchor.checked(tasks)
        logs = Logs(self.cloud, self.name, self.ledger.damage)
        patience = Patience()
        while True:
            finished = self.status().finished
            try:
                yield from logs.new_lines(tasks)
            except PASSING as error:
                if finished or not follow:
                    raise
                log.warning("%s: reading on in a while", error.message)
            if finished or not follow:
                return
            time.sleep(every_s)
            patience.ask(partial(self.sync_as_far_as_possible, documents=False))

    def why(self) -> list[Hindrance]:
        """Return all that holds the run up, or has ended its tasks, with what to do."""
        from orchestrator.runs.why.findings import find_causes

        return find_causes(self._planned_now, self._made(), self.ledger, self.cloud, time.time())

    def story(self, task: int) -> Story | None:
        """Return where the time of a task has gone; None if it was not submitted yet. UsageError if there is none."""
        from orchestrator.runs.why.story import tell_story

        self.anchor.checked(Ranges.of([task]))
        return tell_story(self._planned_now, self._made(), task, self.ledger, self.cloud, time.time())

    def _made(self) -> list[Submission]:
        """Return the submissions of the run; as they were last known where one of them cannot be understood now.

        The first submission has all tasks, so that it need not be known.
        """
        try:
            return list(submissions(self.cloud.s3, self.name))
        except (Damaged, NewerVersion) as error:
            self.ledger.damage.note(error)
            return self.ledger.submissions(self.name) or [everything(self.plan)]

    def conclude(self) -> None:
        """Give back what it did not need of its budgets, and tell of its end, if it has ended.

        Call it after a sync. Repeating it is harmless, and nothing is raised for what cannot be reached.
        """
        from orchestrator.runs.conclude import conclude

        conclude(self.anchor, self.ledger, self.cloud)

    def reproduce(self, task: int, folder: Path) -> Reproduced:
        """Write what trains one task again into a new folder: a sweep file of it alone, and the sources as they were.

        The task is trained on the lane that it last ran on, or else on its first choice.
        """
        from orchestrator.runs.reproduce import reproduce

        self.anchor.checked(Ranges.of([task]))
        known = next(self.ledger.known(self.name, Ranges.of([task])), None)
        outcomes = known.result.outcomes if known else ()
        lane = outcomes[-1].lane if outcomes else self._planned_now.plan.share(task).places[0].lane
        return reproduce(self.anchor, task, lane, self.cloud, folder)

    def cancel(self) -> list[Stopped]:
        """Stop everything, and return when nothing runs any more: what was asked for in each Region, and has ended.

        UsageError if the run has ended by itself.
        """
        from orchestrator.runs.ending.cancel import cancel

        return cancel(self.anchor, self.ledger, self.cloud)

    def limit(self, slots: Mapping[str, int]) -> None:
        """Let the run hold no more than so many instances at once, by Region or lane, or in all; without any, lift it.

        UsageError for what the plan has not, or if the run has ended; Refused for more than tasks and quotas allow.
        """
        from orchestrator.runs.limit import change_limit

        change_limit(self._planned_now, slots, self.ledger, self.cloud)

    @property
    def most_slots(self) -> int:
        """The instances that tasks and quotas allow at once."""
        from orchestrator.runs.limit import most_slots

        return most_slots(self._planned_now.plan)

    def retry(self, tasks: Ranges | None = None, *, again: bool = False) -> Ranges:
        """Submit again what is not done, or exactly these tasks. Return what was submitted.

        UsageError if one of these is done: `again` trains it once more.
        """
        from orchestrator.runs.sending.retry import retry

        return retry(self.anchor, tasks, self.ledger, self.cloud, again=again)

    def replan(self, proposal: Proposal) -> Moved:
        """Send tasks to where a proposal wants them; those started meanwhile stay. Raise what `replan.py` raises."""
        from orchestrator.runs.sending.replan import replan

        return replan(self.anchor, proposal, self.ledger, self.cloud)
