"""The facts that the page shows: Regions, their jobs, trainings and instances, buckets, faults. JSON can carry them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from orchestrator.localcloud.services.batch.jobs import STATES
from orchestrator.localcloud.services.sagemaker.training import ENDED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.localcloud.clock import Clock
    from orchestrator.localcloud.faults.faults import Faults
    from orchestrator.localcloud.services.batch.api import Batch
    from orchestrator.localcloud.services.batch.jobs import Job
    from orchestrator.localcloud.services.ec2.instance import Instance
    from orchestrator.localcloud.services.ec2.lifecycle import InstanceLifecycle
    from orchestrator.localcloud.services.moto.backends import Objects
    from orchestrator.localcloud.services.sagemaker.api import Trainings
    from orchestrator.localcloud.services.sagemaker.training import Training

_Item = TypeVar("_Item")
_NEWEST = 20
"""The most jobs, trainings and instances, each, that a Region shows."""


@dataclass(frozen=True)
class Overview:
    """Looks at all parts of the cloud, and changes none."""

    endpoint: str
    clock: Clock
    faults: Faults
    objects: Objects
    batch: Mapping[str, Batch]
    trainings: Mapping[str, Trainings]
    instances: InstanceLifecycle

    def facts(self) -> dict[str, Any]:
        """Return what the page shows, as it is now."""
        return {
            "endpoint": self.endpoint,
            "now": self.clock.now(),
            "regions": [self._region(region) for region in self.batch],
            "buckets": self.objects.sizes(),
            "faults": [each.describe() for each in self.faults.active()],
        }

    def _region(self, region: str) -> dict[str, Any]:
        service = self.batch[region]
        with service.scheduler.lock:
            jobs = [job for job in service.jobs.values() if job.parent is None]
            newest = [_job(job) for job in _newest(jobs)]
            queues = list(service.resources.queues)
        trainings = list(self.trainings[region].jobs.values())
        instances = self.instances.in_region(region)
        return {
            "name": region,
            "queues": queues,
            "jobs": len(jobs),
            "newest_jobs": newest,
            "trainings": len(trainings),
            "training_states": dict(Counter(training.status for training in trainings)),
            "newest_trainings": [_training(each, self.clock.now()) for each in _newest(trainings)],
            "instances": len(instances),
            "instance_states": dict(Counter(each.state for each in instances)),
            "newest_instances": [_instance(each, self.clock.now()) for each in _newest(instances)],
        }


def _newest(oldest_first: list[_Item]) -> list[_Item]:
    """Return the last ones, the newest first."""
    return oldest_first[-_NEWEST:][::-1]


def _job(job: Job) -> dict[str, Any]:
    counts = {state: job.summary[state] for state in STATES if job.summary[state]}
    queue = job.spec.queue.rpartition("/")[2]
    return {"id": job.id, "name": job.spec.name, "queue": queue, "status": job.status, "children": counts}


def _training(training: Training, now: float) -> dict[str, Any]:
    seconds = training.held
    if training.since is not None:
        seconds += now - training.since
    return {
        "name": training.name,
        "status": training.status if training.status in ENDED else training.secondary,
        "type": training.instance_type,
        "instances": training.instances,
        "purchase": "spot" if training.spot else "on demand",
        "seconds": round(seconds),
    }


def _instance(instance: Instance, now: float) -> dict[str, Any]:
    return {
        "id": instance.id,
        "type": instance.reservation.instance_type,
        "zone": instance.reservation.subnet.zone,
        "purchase": "spot" if instance.reservation.spot else "on demand",
        "status": instance.state,
        "reason": instance.reason[0],
        "seconds": round(instance.seconds(now)),
    }
