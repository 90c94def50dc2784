"""The database's memory of how every task of a run stands."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from heapq import merge
from typing import TYPE_CHECKING, Any

from orchestrator.errors import Damaged, NewerVersion
from orchestrator.runs.known.damage import Damage
from orchestrator.runs.known.rows import Known, known_of_row, row_of_news, row_of_result
from orchestrator.runs.past.attempts import rows_of_attempts
from orchestrator.wire.names import RunKeys
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.result import Result, TaskState
from orchestrator.wire.stored import damage_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from sqlalchemy import Engine

    from orchestrator.db.database import Database
    from orchestrator.db.rows import Rows
    from orchestrator.runs.known.noting import Noting
    from orchestrator.wire.beside.news import News

_ENDED = ", ".join(f"'{state.value}'" for state in TaskState if state.terminal)
_BETWEEN = "run = :run AND task >= :first AND task < :stop"


class Results:
    """What the database knows of the results of tasks."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.damage = Damage()
        """The stored objects that were left out, of whatever run."""

    @property
    def engine(self) -> Engine:
        return self._database.engine

    @property
    def rows(self) -> Rows:
        return self._database.rows

    @cached_property
    def noting(self) -> Noting:
        """The way in which rows are written: it is slow to load."""
        from orchestrator.runs.known.noting import Noting

        return Noting(self.engine)

    def etags(self, run: str) -> dict[str, str]:
        """Return the ETag of every result that is known already, by its key."""
        keys = RunKeys(run)
        found = self.rows.all("SELECT task, etag FROM results WHERE run = :run", run=run)
        return {keys.result(row.task): row.etag for row in found}

    def save(self, run: str, known: Iterable[Known]) -> None:
        """Note results that were read."""
        read = list(known)
        if read:
            attempts = [row for one in read for row in rows_of_attempts(run, one.result)]
            self.noting.put_results([row_of_result(run, one) for one in read], attempts)

    def tell(self, run: str, told: Mapping[int, News], states: Callable[[News], TaskState]) -> int:
        """Note what news say of tasks. Return of how many they say anything new.

        `states` returns how a task stands by them: what an older submission has left may no longer count.
        """
        known = self._orders(run, Ranges.of(told))
        rows = [
            row_of_news(run, news, states(news))
            for task, news in told.items()
            if task not in known or (known[task][1] != news.etag and known[task][0] <= news.order)
        ]
        if rows:
            self.noting.put_news(rows)
        return len(rows)

    def _orders(self, run: str, tasks: Ranges) -> dict[int, tuple[tuple[int, int, int], str]]:
        """Return for these tasks, and some more, the order of the result that is known, and its ETag."""
        # A task that was retried is pending, whatever rank its last result had: that result is older anyway.
        query = f"SELECT task, submission, attempt, state, etag FROM results WHERE {_BETWEEN}"
        orders = {}
        for first, stop in _windows(tasks):
            for row in self.rows.all(query, run=run, first=first, stop=stop):
                orders[row.task] = ((row.submission, row.attempt, TaskState(row.state).rank), row.etag)
        return orders

    def unread(self, run: str) -> list[int]:
        """Return the tasks whose result has changed since it was read."""
        return self.rows.column(
            "SELECT task FROM results WHERE run = :run AND read_etag <> etag ORDER BY task", run=run
        )

    def silent(self, run: str) -> Ranges:
        """Return the tasks that a cancel ended before they left anything: they are cancelled, and have no result."""
        ranges = self._column(run, "silent")
        return Ranges.parse(ranges) if ranges else Ranges()

    def _column(self, run: str, column: str) -> Any:
        """Return what a column of the run holds; None if the run is not noted."""
        return self.rows.value(f"SELECT {column} FROM runs WHERE name = :run", run=run)

    def end_waiting(self, run: str, tasks: Ranges) -> bool:
        """Note that a cancel has ended these tasks, but for those of which a result says more.

        Return whether that is new of any of them.
        """
        states = list(self.rows.all("SELECT task, state FROM results WHERE run = :run", run=run))
        silent = tasks.minus(Ranges.of(row.task for row in states))
        pending = (row.task for row in states if row.state == TaskState.PENDING.value)
        waiting = Ranges.of(task for task in pending if task in tasks)
        if not waiting and silent == self.silent(run):
            return False
        self.noting.end_waiting(run, silent, waiting)
        return True

    def counts(self, run: str) -> dict[tuple[str, TaskState], int]:
        """Count the tasks that have begun or ended, by Region and state; the Region is empty of those in none."""
        query = "SELECT region, state, count(*) AS tasks FROM results WHERE run = :run GROUP BY region, state"
        found = Counter({(row.region, TaskState(row.state)): row.tasks for row in self.rows.all(query, run=run)})
        return found + Counter({("", TaskState.CANCELLED): len(self.silent(run))})

    def usd(self, run: str) -> float:
        return self.rows.value("SELECT sum(usd) FROM results WHERE run = :run", run=run) or 0.0

    def spent(self, run: str) -> dict[int, float]:
        """Return the dollars that each task has cost in all its attempts, of those that have cost any."""
        rows = self.rows.all("SELECT task, usd FROM results WHERE run = :run AND usd > 0 ORDER BY task", run=run)
        return {row.task: row.usd for row in rows}

    def seen(self, run: str, first: int, stop: int) -> int:
        """Return how many of these tasks have begun or ended."""
        query = f"SELECT count(*) FROM results WHERE {_BETWEEN} AND state <> '{TaskState.PENDING.value}'"
        begun: int = self.rows.value(query, run=run, first=first, stop=stop)
        return begun + self._silent_among(run, Ranges(((first, stop),)))

    def placeless(self, run: str, first: int, stop: int) -> dict[TaskState, int]:
        """Count those of these tasks that ended without having been anywhere, by state."""
        query = (
            f"SELECT state, count(*) AS tasks FROM results WHERE {_BETWEEN}"
            f" AND region = '' AND state <> '{TaskState.PENDING.value}' GROUP BY state"
        )
        rows = self.rows.all(query, run=run, first=first, stop=stop)
        found = Counter({TaskState(row.state): row.tasks for row in rows})
        return found + Counter({TaskState.CANCELLED: self._silent_among(run, Ranges(((first, stop),)))})

    def ended(self, run: str, tasks: Ranges) -> int:
        """Return how many of these tasks have ended."""
        query = f"SELECT count(*) FROM results WHERE {_BETWEEN} AND state IN ({_ENDED})"
        left: int = sum(self.rows.value(query, run=run, first=first, stop=stop) for first, stop in tasks.spans)
        return left + self._silent_among(run, tasks)

    def begun(self, run: str) -> set[int]:
        """Return the tasks that start or run, as far as is known."""
        query = "SELECT task FROM results WHERE run = :run AND state IN (:starting, :running)"
        states = {"starting": TaskState.STARTING.value, "running": TaskState.RUNNING.value}
        return set(self.rows.column(query, run=run, **states))

    def newest_submission(self, run: str) -> int:
        """Return the number of the newest submission that a result tells of; 0 if none does."""
        number: int | None = self.rows.value("SELECT max(submission) FROM results WHERE run = :run", run=run)
        return number or 0

    def attempts(self, run: str) -> list[tuple[int, int]]:
        """Return each task whose result tells of an attempt, and the number of the newest."""
        rows = self.rows.all("SELECT task, attempt FROM results WHERE run = :run AND attempt > 0", run=run)
        return [(row.task, row.attempt) for row in rows]

    def proven(self, run: str) -> dict[int, int]:
        """Return the newest attempt of each task that is known to have ended."""
        rows = self.rows.all("SELECT task, proven FROM results WHERE run = :run AND proven > 0", run=run)
        return {row.task: row.proven for row in rows}

    def ends(self, run: str) -> dict[int, tuple[TaskState, int]]:
        """Return of every task that has ended how, and the newest attempt that is known to have ended."""
        query = f"SELECT task, state, proven FROM results WHERE run = :run AND state IN ({_ENDED})"
        left = {row.task: (TaskState(row.state), row.proven) for row in self.rows.all(query, run=run)}
        return dict.fromkeys(self.silent(run), (TaskState.CANCELLED, 0)) | left

    def known(self, run: str, tasks: Ranges | None = None, state: TaskState | None = None) -> Iterator[Known]:
        """Yield every task that has begun or ended, or those in one state, in the order of their numbers."""
        wanted = f"AND state = '{state.value}'" if state else ""
        query = f"SELECT * FROM results WHERE run = :run {wanted} ORDER BY task"
        silent = self.silent(run) if state in (None, TaskState.CANCELLED) else Ranges()
        left = filter(None, (self._read(run, row) for row in self.rows.all(query, run=run)))
        for one in merge(left, map(_stopped, silent), key=lambda one: one.result.task):
            if tasks is None or one.result.task in tasks:
                yield one

    def _read(self, run: str, row: Any) -> Known | None:
        """Return what a row says of a task; None, with a note, for a row that cannot be understood."""
        try:
            with damage_named(f"run {run}, task {row.task}, in the database"):
                return known_of_row(row)
        except (Damaged, NewerVersion) as error:
            self.damage.note_task(error, run, row.task)
            return None

    def unfinished(self, run: str, tasks: Ranges) -> Ranges:
        """Return those of these tasks that have not ended."""
        query = f"SELECT task FROM results WHERE {_BETWEEN} AND state IN ({_ENDED})"
        ended: set[int] = set()
        for first, stop in _windows(tasks):
            ended.update(self.rows.column(query, run=run, first=first, stop=stop))
        return tasks.minus(Ranges.of(ended)).minus(self.silent(run))

    def _silent_among(self, run: str, tasks: Ranges) -> int:
        silent = self.silent(run)
        return len(silent) - len(silent.minus(tasks))


def _stopped(task: int) -> Known:
    """Return what is known of a task that a cancel ended before it left a result."""
    return Known("", Result(task, "", TaskState.CANCELLED, "cancelled"), TaskState.CANCELLED)


GAP = 1_000
"""Numbers between two ranges that are read along rather than asked around."""


def _windows(tasks: Ranges) -> list[tuple[int, int]]:
    """Return few ranges that hold all: an array's tasks may lie far apart, and a retry's are many and scattered."""
    windows: list[tuple[int, int]] = []
    for first, stop in sorted(tasks.spans):
        if windows and first - windows[-1][1] <= GAP:
            windows[-1] = (windows[-1][0], stop)
        else:
            windows.append((first, stop))
    return windows
