"""dependsOn: which jobs wait for which others, and what the end of one means for those that wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.batch.jobs import ENDED
from orchestrator.localcloud.services.batch.resources import refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from orchestrator.localcloud.services.batch.jobs import Job

FAILED = "Dependent Job failed"


class Dependencies:
    """Remembers which jobs wait for others. A child of an array may be waited for, and may wait, like any job."""

    def __init__(self) -> None:
        self._awaited: dict[Job, int] = {}
        self._waiting_for: dict[Job, list[Job]] = {}

    def add(self, job: Job, others: Iterable[Job]) -> None:
        """Let a job wait for others. Call `release` for those that had ended before, as for any that ends later."""
        for other in others:
            self._waiting_for.setdefault(other, []).append(job)
            self._awaited[job] = self._awaited.get(job, 0) + 1

    def is_waiting(self, job: Job) -> bool:
        """Say whether a job still waits for others."""
        return job in self._awaited

    def release(self, ended: Job) -> list[tuple[Job, bool]]:
        """Return the jobs that wait no longer now that one has ended, and for each whether it may run.

        A job waits until all that it depends on have succeeded. It may not run as soon as one of them fails.
        """
        released = []
        for job in self._waiting_for.pop(ended, ()):
            if job not in self._awaited:
                continue
            self._awaited[job] -= 1
            if ended.status == "FAILED" or not self._awaited[job]:
                del self._awaited[job]
                released.append((job, ended.status == "SUCCEEDED"))
        return released


def resolve(job: Job, depends_on: list[dict[str, Any]], jobs: Mapping[str, Job]) -> list[tuple[Job, list[Job]]]:
    """Return each job that has to wait, with the jobs that it waits for; raise Batch's refusal of what is wrong.

    `job` has just been made. When it is an array, its children are what waits.
    """
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
                raise refusal(f"An N_TO_N dependency needs arrays of one size: {len(waiting)} is not {len(theirs)}")
            for index, child in enumerate(theirs):
                awaited[index].append(child)
        else:
            found = _find(other, jobs)
            for each in awaited:
                each.append(found)
    return [(each, others) for each, others in zip(waiting, awaited, strict=True) if others]


def ended_already(waiting: list[tuple[Job, list[Job]]]) -> list[Job]:
    """Return the jobs that are waited for although they have ended, each once."""
    return list(dict.fromkeys(other for _, others in waiting for other in others if other.status in ENDED))


def _require_array(job: Job, kind: str) -> None:
    if not job.is_array:
        raise refusal(f"A dependency of type {kind} is for array jobs")


def _find(job: str | None, jobs: Mapping[str, Job]) -> Job:
    if job is None or job not in jobs:
        raise refusal(f"Job {job} in dependsOn does not exist")
    return jobs[job]
