"""Every array job of a run, found by its name: two of one name, after a lost answer, are two."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from orchestrator.runs.patience import PASSING
from orchestrator.wire.names import arrays_prefix, submission_of_array

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.aws.jobs.batch_job import Job
    from orchestrator.runs.cloud import Cloud
    from orchestrator.runs.written.anchor import Anchor
    from orchestrator.runs.written.submission import Submission

log = logging.getLogger(__name__)


class ArrayJobs:
    """The array jobs of a run's submissions, whoever sent them."""

    def __init__(self, anchor: Anchor, made: list[Submission], through: int, cloud: Cloud) -> None:
        """Take those of submissions 1..through; `made` says which queues they may be in."""
        self._anchor = anchor
        self._cloud = cloud
        self._through = through
        arrays = [array for submission in made for array in submission.arrays(anchor.name)]
        self.terminated: set[str] = set()
        """Ids of the jobs that we have terminated."""
        self._queues = sorted({cloud.queue(array.lot) for array in arrays})

    def alive(self) -> bool:
        """Return whether one of them has not ended."""
        return any(True for queue in self._queues for _ in self._alive_in(queue))

    def terminate(self) -> bool:
        """Terminate those that have not ended. Return False if all have."""
        alive = False
        for queue in self._queues:
            try:
                for job in self._alive_in(queue):
                    alive = True
                    self._cloud.batch.terminate(job.id, "cancelled")
                    self.terminated.add(job.id)
            except PASSING as error:
                log.warning("the arrays in %s are not known to have ended yet: %s", queue, error.message)
                alive = True
        return alive

    def _alive_in(self, queue: str) -> Iterator[Job]:
        for job in self._cloud.batch.named(arrays_prefix(self._anchor.name), queue):
            number = submission_of_array(self._anchor.name, job.name)
            if number is not None and number <= self._through and not job.ended:
                yield job
