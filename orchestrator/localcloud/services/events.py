"""EventBridge: what happens to jobs and trainings, told to the rules that ask for it."""

from __future__ import annotations

import logging
import uuid
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator.localcloud.clock import Clock
    from orchestrator.localcloud.services.batch.jobs import Job
    from orchestrator.localcloud.services.moto_backends import Rules
    from orchestrator.localcloud.services.sagemaker.job import Training

log = logging.getLogger(__name__)


class Events:
    def __init__(self, rules: Rules, clock: Clock) -> None:
        self._rules = rules
        self._clock = clock

    def of_job(self, region: str, job: Job) -> None:
        """After each change of its state, and of each child's of an array."""
        if self._rules.exist(region):
            self._tell(region, "aws.batch", "Batch Job State Change", (job.arn, job.describe()))

    def of_training(self, training: Training) -> None:
        """After each change of its secondary status."""
        if self._rules.exist(training.region):
            about = (training.arn, _in_millis(training.describe()))
            self._tell(training.region, "aws.sagemaker", "SageMaker Training Job State Change", about)

    def _tell(self, region: str, source: str, kind: str, about: tuple[str, dict[str, Any]]) -> None:
        """A target that cannot be reached is no trouble of the job's."""
        arn, detail = about
        event = {
            "version": "0",
            "id": str(uuid.uuid4()),
            "detail-type": kind,
            "source": source,
            "account": arn.split(":")[4],
            "time": self._clock.now(),
            "region": region,
            "resources": [arn],
            "detail": detail,
        }
        try:
            self._rules.send(region, event)
        except Exception:
            log.exception("an event of %s did not reach its targets", arn)


def _in_millis(value: Any, name: str = "") -> Any:
    """Events write moments as milliseconds, where the API writes seconds."""
    if isinstance(value, dict):
        return {key: _in_millis(each, key) for key, each in value.items()}
    if isinstance(value, list):
        return [_in_millis(each) for each in value]
    return round(value * 1000) if name.endswith(("Time", "Timestamp")) and isinstance(value, float) else value
