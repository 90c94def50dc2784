"""What the trainings of a run have written, found from the control bucket alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.errors import AccessError, Damaged, NewerVersion, NotFound, SweepError, UsageError
from orchestrator.runs.patience import PASSING
from orchestrator.wire.curve import Curves

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Mapping, Sequence

    from orchestrator.platforms.base import Runner
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.known.damage import Damage
    from orchestrator.wire.ranges import Ranges
    from orchestrator.wire.result import Attempt
    from orchestrator.wire.template import Template

READERS = 16
"""Recorded attempts that are read at once."""
FEW = 16
"""Tasks whose attempts are listed one by one: of more, all attempts of the run are listed."""


@dataclass(frozen=True)
class LogLine:
    task: int
    stream: str
    text: str


@dataclass(frozen=True)
class LogsRead:
    """What the logs of tasks say of their metrics."""

    found: dict[int, Curves]
    """The curves of each task all of whose logs could be read."""
    unread: dict[int, str]
    """The other tasks, each with the Region that could not be asked, and the reason."""


class Logs:
    """The logs of a run's trainings. It remembers which lines it has given."""

    def __init__(self, cloud: Cloud, run: str, damage: Damage) -> None:
        """`damage` is told of recorded attempts that cannot be understood: they are left out."""
        self._cloud = cloud
        self._damage = damage
        self._control = cloud.control(run)
        self._attempts: dict[tuple[int, int], Attempt] = {}
        self._templates: dict[tuple[str, str], Template] = {}
        self._after: dict[tuple[int, int], dict[str, str]] = {}

    def new_lines(self, tasks: Ranges | None = None) -> Iterator[LogLine]:
        """Yield the lines of these tasks, or of all, that were not given yet: task by task, attempt by attempt.

        Logs in a Region that cannot be read now are left out. After all others, its error is raised.
        """
        away: dict[tuple[str, str], SweepError] = {}
        left_out: set[int] = set()
        for attempt, template, runner in self._found(self._recorded(tasks)):
            site = (attempt.lane.platform, attempt.lane.region)
            try:
                if site not in away:
                    after = self._after.setdefault((attempt.task, attempt.number), {})
                    for stream, text in runner.logs(attempt, template, after):
                        yield LogLine(attempt.task, stream, text)
            except (*PASSING, AccessError) as error:
                away[site] = error
            if site in away:
                left_out.add(attempt.task)
        if away:
            raise _left_out(list(away.values()), left_out)

    def measure(self, regexes: Mapping[str, re.Pattern[str]], tasks: Ranges | None = None) -> LogsRead:
        """Return what these regexes, and `report`, find in the logs of the first instances, by task."""
        found: dict[int, Curves] = {}
        unread: dict[int, str] = {}
        away: dict[tuple[str, str], str] = {}
        for attempt, template, runner in self._found(sorted(self._recorded(tasks))):
            site = (attempt.lane.platform, attempt.lane.region)
            curves = found.setdefault(attempt.task, Curves())
            curves.begin_log()
            try:
                if site not in away:
                    lines = runner.logs(attempt, template, {}, first_instance=True)
                    curves.read((text for _, text in lines), regexes)
            except (*PASSING, AccessError) as error:
                away[site] = f"{attempt.lane.region}: {error.message}"
            if site in away:
                unread[attempt.task] = away[site]
        return LogsRead({task: curves for task, curves in found.items() if task not in unread}, unread)

    def _recorded(self, tasks: Ranges | None) -> list[tuple[int, int]]:
        """Return the task and the number of each attempt of these tasks. Few tasks are looked up one by one."""
        if tasks is None or len(tasks) > FEW:
            return [key for key in self._control.recorded() if tasks is None or key[0] in tasks]
        return [key for task in tasks for key in self._control.recorded(task)]

    def _found(self, keys: list[tuple[int, int]]) -> Iterator[tuple[Attempt, Template, Runner]]:
        """Yield what is needed to read the log of each of these attempts, of all of which it can be understood."""
        for key in self._read(keys):
            attempt = self._attempts[key]
            try:
                yield attempt, self._template(attempt), self._cloud.runner(attempt.lane.platform)
            except (Damaged, NewerVersion) as error:
                self._damage.note(error)
            except (NotFound, UsageError) as error:
                where = self._control.s3.uri(self._control.keys.attempt(*key))
                self._damage.note(Damaged(f"names a place that cannot be looked at: {error.message}", where=where))

    def _read(self, keys: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Read those of these attempts that are not known yet: they never change. Return those that can be read."""

        def read(key: tuple[int, int]) -> Attempt | None:
            try:
                return self._control.attempt(*key)
            except (Damaged, NewerVersion) as error:
                self._damage.note(error)
                return None

        new = [key for key in keys if key not in self._attempts]
        with ThreadPoolExecutor(READERS) as pool:
            found = zip(new, pool.map(read, new), strict=True)
            self._attempts |= {key: attempt for key, attempt in found if attempt}
        return [key for key in keys if key in self._attempts]

    def _template(self, attempt: Attempt) -> Template:
        site = (attempt.lane.platform, attempt.lane.region)
        if site not in self._templates:
            self._templates[site] = self._control.template(*site)
        return self._templates[site]


def _left_out(errors: Sequence[SweepError], tasks: set[int]) -> SweepError:
    """Return the first of these errors, which says besides how much of the log is missing."""
    regions = ", ".join(sorted({error.where for error in errors}))
    of_tasks = "1 task" if len(tasks) == 1 else f"{len(tasks):,} tasks"
    first = errors[0]
    what = f"{first.message} (logs of {of_tasks} are left out, in {regions})"
    return type(first)(what, where=first.where, hint=first.hint)
