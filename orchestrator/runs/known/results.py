"""The database's memory of how every task of a run stands."""

from __future__ import annotations

from collections import Counter
from heapq import merge
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select, update

from orchestrator.db.engine import reading, writing
from orchestrator.db.tables import results, runs
from orchestrator.db.upsert import upsert
from orchestrator.errors import Damaged, NewerVersion
from orchestrator.runs.known.damage import Damage
from orchestrator.runs.known.rows import READ_ONLY, Known, known_of_row, row_of_news, row_of_result
from orchestrator.wire.names import RunKeys
from orchestrator.wire.ranges import Ranges
from orchestrator.wire.result import Result, TaskState
from orchestrator.wire.stored import damage_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from sqlalchemy import Engine, Row

    from orchestrator.wire.news import News

HAS_ENDED = results.c.state.in_([state.value for state in TaskState if state.terminal])


class Results:
    """What the database knows of the results of tasks."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.damage = Damage()
        """The stored objects that were left out, of whatever run."""

    def etags(self, run: str) -> dict[str, str]:
        """Return the ETag of every result that is known already, by its key."""
        keys = RunKeys(run)
        query = select(results.c.task, results.c.etag).where(results.c.run == run)
        with reading(self.engine) as connection:
            return {keys.result(row.task): row.etag for row in connection.execute(query)}

    def save(self, run: str, known: Iterable[Known]) -> None:
        """Note results that were read."""
        rows = [row_of_result(run, one) for one in known]
        if rows:
            with writing(self.engine) as connection:
                upsert(connection, results, rows)

    def tell(self, run: str, told: Mapping[int, News], owners: Callable[[int], int]) -> int:
        """Note what news say of tasks. Return of how many they say anything new.

        `owners` returns the submission that a task belongs to now: what an older one has left no longer counts.
        """
        known = self._orders(run, Ranges.of(told))
        rows = [
            row_of_news(run, news, news.state if news.submission >= owners(task) else TaskState.PENDING)
            for task, news in told.items()
            if task not in known or (known[task][1] != news.etag and known[task][0] <= news.order)
        ]
        if rows:
            with writing(self.engine) as connection:
                upsert(connection, results, rows, keep=READ_ONLY)
        return len(rows)

    def _orders(self, run: str, tasks: Ranges) -> dict[int, tuple[tuple[int, int, int], str]]:
        """Return for these tasks, and some more, the order of the result that is known, and its ETag."""
        # A task that was retried is pending, whatever rank its last result had: that result is older anyway.
        columns = (results.c.task, results.c.submission, results.c.attempt, results.c.state, results.c.etag)
        orders = {}
        with reading(self.engine) as connection:
            for first, stop in _windows(tasks):
                nearby = (results.c.run == run) & results.c.task.between(first, stop - 1)
                for task, submission, attempt, state, etag in connection.execute(select(*columns).where(nearby)):
                    orders[task] = ((submission, attempt, TaskState(state).rank), etag)
        return orders

    def unread(self, run: str) -> list[int]:
        """Return the tasks whose result has changed since it was read."""
        query = select(results.c.task).where((results.c.run == run) & (results.c.read_etag != results.c.etag))
        with reading(self.engine) as connection:
            return list(connection.scalars(query.order_by(results.c.task)))

    def silent(self, run: str) -> Ranges:
        """Return the tasks that a cancel ended before they left anything: they are cancelled, and have no result."""
        with reading(self.engine) as connection:
            ranges = connection.scalar(select(runs.c.silent).where(runs.c.name == run))
        return Ranges.parse(ranges) if ranges else Ranges()

    def end_waiting(self, run: str, tasks: Ranges) -> bool:
        """Note that a cancel has ended these tasks, but for those of which a result says more.

        Return whether that is new of any of them.
        """
        mine = results.c.run == run
        with reading(self.engine) as connection:
            left = Ranges.of(connection.scalars(select(results.c.task).where(mine)))
            pending = select(results.c.task).where(mine & (results.c.state == TaskState.PENDING.value))
            waiting = Ranges.of(task for task in connection.scalars(pending) if task in tasks)
        silent = tasks.minus(left)
        if not waiting and silent == self.silent(run):
            return False
        with writing(self.engine) as connection:
            connection.execute(update(runs).where(runs.c.name == run).values(silent=str(silent)))
            for first, stop in waiting.spans:
                here = mine & results.c.task.between(first, stop - 1)
                connection.execute(update(results).where(here).values(state=TaskState.CANCELLED.value))
        return True

    def counts(self, run: str) -> dict[tuple[str, TaskState], int]:
        """Count the tasks that have begun or ended, by Region and state; the Region is empty of those in none."""
        query = (
            select(results.c.region, results.c.state, func.count())
            .where(results.c.run == run)
            .group_by(results.c.region, results.c.state)
        )
        with reading(self.engine) as connection:
            found = Counter({(region, TaskState(state)): count for region, state, count in connection.execute(query)})
        return found + Counter({("", TaskState.CANCELLED): len(self.silent(run))})

    def usd(self, run: str) -> float:
        with reading(self.engine) as connection:
            return connection.scalar(select(func.sum(results.c.usd)).where(results.c.run == run)) or 0.0

    def seen(self, run: str, first: int, stop: int) -> int:
        """Return how many of these tasks have begun or ended."""
        query = select(func.count()).where(
            (results.c.run == run)
            & results.c.task.between(first, stop - 1)
            & (results.c.state != TaskState.PENDING.value)
        )
        with reading(self.engine) as connection:
            begun = connection.scalar(query) or 0
        return begun + self._silent_among(run, Ranges(((first, stop),)))

    def placeless(self, run: str, first: int, stop: int) -> dict[TaskState, int]:
        """Count those of these tasks that ended without having been anywhere, by state."""
        mine = (results.c.run == run) & results.c.task.between(first, stop - 1)
        placeless = (results.c.region == "") & (results.c.state != TaskState.PENDING.value)
        query = select(results.c.state, func.count()).where(mine & placeless)
        with reading(self.engine) as connection:
            rows = connection.execute(query.group_by(results.c.state))
            found = Counter({TaskState(state): count for state, count in rows})
        return found + Counter({TaskState.CANCELLED: self._silent_among(run, Ranges(((first, stop),)))})

    def ended(self, run: str, tasks: Ranges) -> int:
        """Return how many of these tasks have ended."""
        with reading(self.engine) as connection:
            left = sum(
                connection.scalar(
                    select(func.count()).where(
                        (results.c.run == run) & results.c.task.between(first, stop - 1) & HAS_ENDED
                    )
                )
                or 0
                for first, stop in tasks.spans
            )
        return left + self._silent_among(run, tasks)

    def begun(self, run: str) -> set[int]:
        """Return the tasks that start or run, as far as is known."""
        begun = results.c.state.in_([TaskState.STARTING.value, TaskState.RUNNING.value])
        with reading(self.engine) as connection:
            return set(connection.scalars(select(results.c.task).where((results.c.run == run) & begun)))

    def proven(self, run: str) -> dict[int, int]:
        """Return the newest attempt of each task that is known to have ended."""
        query = select(results.c.task, results.c.proven).where((results.c.run == run) & (results.c.proven > 0))
        with reading(self.engine) as connection:
            return {row.task: row.proven for row in connection.execute(query)}

    def ends(self, run: str) -> dict[int, tuple[TaskState, int]]:
        """Return of every task that has ended how, and the newest attempt that is known to have ended."""
        query = select(results.c.task, results.c.state, results.c.proven).where((results.c.run == run) & HAS_ENDED)
        with reading(self.engine) as connection:
            left = {task: (TaskState(state), proven) for task, state, proven in connection.execute(query)}
        return dict.fromkeys(self.silent(run), (TaskState.CANCELLED, 0)) | left

    def known(self, run: str, tasks: Ranges | None = None, state: TaskState | None = None) -> Iterator[Known]:
        """Yield every task that has begun or ended, or those in one state, in the order of their numbers."""
        query = select(results).where(results.c.run == run)
        if state:
            query = query.where(results.c.state == state.value)
        silent = self.silent(run) if state in (None, TaskState.CANCELLED) else Ranges()
        with reading(self.engine) as connection:
            rows = connection.execute(query.order_by(results.c.task))
            left = filter(None, (self._read(run, row) for row in rows))
            for one in merge(left, map(_stopped, silent), key=lambda one: one.result.task):
                if tasks is None or one.result.task in tasks:
                    yield one

    def _read(self, run: str, row: Row[Any]) -> Known | None:
        """Return what a row says of a task; None, with a note, for a row that cannot be understood."""
        try:
            with damage_named(f"run {run}, task {row.task}, in the database"):
                return known_of_row(row)
        except (Damaged, NewerVersion) as error:
            self.damage.note_task(error, run, row.task)
            return None

    def unfinished(self, run: str, tasks: Ranges) -> Ranges:
        """Return those of these tasks that have not ended."""
        ended: set[int] = set()
        with reading(self.engine) as connection:
            for first, stop in _windows(tasks):
                nearby = (results.c.run == run) & results.c.task.between(first, stop - 1)
                ended.update(connection.scalars(select(results.c.task).where(nearby & HAS_ENDED)))
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
