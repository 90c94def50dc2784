"""dependsOn: which jobs wait for which others, and what the end of one means for those behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.batch.jobs import ENDED
from orchestrator.localcloud.services.batch.resources import refuse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from orchestrator.localcloud.services.batch.jobs import Job

FAILED = "Dependent Job failed"


class Dependencies:
    """A child of an array may be waited for, and may wait, like any other job."""

    def __init__(self) -> None:
        self._awaited: dict[Job, int] = {}
        self._behind: dict[Job, list[Job]] = {}

    def add(self, job: Job, others: Iterable[Job]) -> None:
        """What has ended already is counted too: `settle` tells of it like of any other end."""
        for other in others:
            self._behind.setdefault(other, []).append(job)
            self._awaited[job] = self._awaited.get(job, 0) + 1

    def holds(self, job: Job) -> bool:
        """Whether a job waits for others."""
        return job in self._awaited

    def settle(self, ended: Job) -> list[tuple[Job, bool]]:
        """The jobs that wait no longer, and whether all that they waited for succeeded."""
        settled = []
        for job in self._behind.pop(ended, ()):
            if job not in self._awaited:
                continue
            self._awaited[job] -= 1
            if ended.status == "FAILED" or not self._awaited[job]:
                del self._awaited[job]
                settled.append((job, ended.status == "SUCCEEDED"))
        return settled


def pairs(job: Job, depends_on: list[dict[str, Any]], jobs: Mapping[str, Job]) -> list[tuple[Job, list[Job]]]:
    """Of a job just made, or of each child of an array: what it waits for."""
    waiting = job.children or [job]
    awaited: list[list[Job]] = [[] for _ in waiting]
    for dependency in depends_on:
        kind, other = dependency.get("type"), dependency.get("jobId")
        if kind == "SEQUENTIAL" and other is None:
            _require_array(job, "SEQUENTIAL")
            for index in range(1, len(waiting)):
                awaited[index].append(waiting[index - 1])
        elif kind == "N_TO_N":
            _require_array(job, "N_TO_N")
            theirs = _find(other, jobs).children
            if len(theirs) != len(waiting):
                raise refuse(f"An N_TO_N dependency needs arrays of one size: {len(waiting)} is not {len(theirs)}")
            for index, child in enumerate(theirs):
                awaited[index].append(child)
        else:
            found = _find(other, jobs)
            for each in awaited:
                each.append(found)
    return [(each, others) for each, others in zip(waiting, awaited, strict=True) if others]


def ended_already(waiting: list[tuple[Job, list[Job]]]) -> list[Job]:
    return list(dict.fromkeys(other for _, others in waiting for other in others if other.status in ENDED))


def _require_array(job: Job, kind: str) -> None:
    if not job.is_array:
        raise refuse(f"A dependency of type {kind} is for array jobs")


def _find(job: str | None, jobs: Mapping[str, Job]) -> Job:
    if job is None or job not in jobs:
        raise refuse(f"Job {job} in dependsOn does not exist")
    return jobs[job]
