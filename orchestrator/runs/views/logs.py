"""What the trainings of a run have written, found from the control bucket alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.wire.curve import Curves

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Mapping

    from orchestrator.runs.cloud import Cloud
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


class Logs:
    """The logs of a run's trainings. It remembers which lines it has given."""

    def __init__(self, cloud: Cloud, run: str) -> None:
        self._cloud = cloud
        self._control = cloud.control(run)
        self._attempts: dict[tuple[int, int], Attempt] = {}
        self._templates: dict[tuple[str, str], Template] = {}
        self._after: dict[tuple[int, int], dict[str, str]] = {}

    def new_lines(self, tasks: Ranges | None = None) -> Iterator[LogLine]:
        """Yield the lines of these tasks, or of all, that were not given yet: task by task, attempt by attempt."""
        keys = self._recorded(tasks)
        self._read(keys)
        for key in keys:
            attempt = self._attempts[key]
            runner = self._cloud.runner(attempt.lane.platform)
            for stream, text in runner.logs(attempt, self._template(attempt), self._after.setdefault(key, {})):
                yield LogLine(attempt.task, stream, text)

    def measure(self, regexes: Mapping[str, re.Pattern[str]], tasks: Ranges | None = None) -> dict[int, Curves]:
        """Return what these regexes, and `report`, find in the logs of the first instances, by task."""
        keys = sorted(self._recorded(tasks))
        self._read(keys)
        found: dict[int, Curves] = {}
        for key in keys:
            attempt = self._attempts[key]
            curves = found.setdefault(attempt.task, Curves())
            curves.begin_log()
            lines = self._cloud.runner(attempt.lane.platform).logs(
                attempt, self._template(attempt), {}, first_instance=True
            )
            curves.read((text for _, text in lines), regexes)
        return found

    def _recorded(self, tasks: Ranges | None) -> list[tuple[int, int]]:
        """Return the task and the number of each attempt of these tasks. Few tasks are looked up one by one."""
        if tasks is None or len(tasks) > FEW:
            return [key for key in self._control.recorded() if tasks is None or key[0] in tasks]
        return [key for task in tasks for key in self._control.recorded(task)]

    def _read(self, keys: list[tuple[int, int]]) -> None:
        """Read those of these attempts that are not known yet. They never change."""
        new = [key for key in keys if key not in self._attempts]
        with ThreadPoolExecutor(READERS) as pool:
            self._attempts |= zip(new, pool.map(lambda key: self._control.attempt(*key), new), strict=True)

    def _template(self, attempt: Attempt) -> Template:
        site = (attempt.lane.platform, attempt.lane.region)
        if site not in self._templates:
            self._templates[site] = self._control.template(*site)
        return self._templates[site]
