"""EventBridge: sends what happens to jobs and trainings to the rules that ask for it."""

from __future__ import annotations

import logging
import uuid
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator.localcloud.clock import Clock
    from orchestrator.localcloud.services.batch.jobs import Job
    from orchestrator.localcloud.services.moto.backends import Rules
    from orchestrator.localcloud.services.sagemaker.training import Training

log = logging.getLogger(__name__)


class Events:
    """Sends events to the rules that moto keeps."""

    def __init__(self, rules: Rules, clock: Clock) -> None:
        self._rules = rules
        self._clock = clock

    def send_job_change(self, region: str, job: Job) -> None:
        """Send the event of a job's new state. Call it after each change, of an array's children too."""
        if self._rules.any_in(region):
            self._send(region, "aws.batch", "Batch Job State Change", (job.arn, job.describe()))

    def send_training_change(self, training: Training) -> None:
        """Send the event of a training's new secondary status. Call it after each change."""
        if self._rules.any_in(training.region):
            about = (training.arn, _in_millis(training.describe()))
            self._send(training.region, "aws.sagemaker", "SageMaker Training Job State Change", about)

    def _send(self, region: str, source: str, kind: str, about: tuple[str, dict[str, Any]]) -> None:
        """Send an event about an ARN, with its details. A target that cannot be reached does not trouble the job."""
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
    """Turn the moments in an API's answer from seconds into milliseconds, as events write them."""
    if isinstance(value, dict):
        return {key: _in_millis(each, key) for key, each in value.items()}
    if isinstance(value, list):
        return [_in_millis(each) for each in value]
    if isinstance(value, float) and name.endswith(("Time", "Timestamp")):
        return round(value * 1000)
    return value
