"""EventBridge Scheduler: moto keeps the schedules, and we fire them when they are due, by the cloud's clock.

Targets are SQS queues, and Batch's SubmitJob as a universal target (arn:aws:scheduler:::aws-sdk:batch:submitJob).
What a target refuses is not sent again: it goes at once to the schedule's queue for dead letters, if it has one.
"""

from __future__ import annotations

import json
import logging
import threading
import uuid
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.http import validation
from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.services.schedules import timetable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from botocore.model import Shape

    from orchestrator.localcloud.clock import Alarm, Clock
    from orchestrator.localcloud.services.batch.api import Batch
    from orchestrator.localcloud.services.moto.backends import Schedule, ScheduleStore
    from orchestrator.localcloud.services.schedules.job_starter import JobStarter

log = logging.getLogger(__name__)

SUBMIT_JOB = "arn:aws:scheduler:::aws-sdk:batch:submitJob"


@dataclass
class _Armed:
    """A schedule that we watch."""

    schedule: Schedule
    since: float
    """When a rate began to count."""
    alarm: Alarm | None = None
    """The next time that it fires; None for a schedule that has never had one."""


class Schedules:
    """Watches the schedules of all Regions, and sends their input to their targets when they are due."""

    def __init__(self, store: ScheduleStore, clock: Clock, batch: Mapping[str, Batch], starter: JobStarter) -> None:
        """`starter` says whether a schedule's role may submit a job."""
        self._starter = starter
        self._store = store
        self._clock = clock
        self._batch = batch
        self._armed: dict[str, _Armed] = {}
        self._lock = threading.RLock()

    def check(self, body: Mapping[str, Any]) -> None:
        """Raise the refusal of a schedule that Scheduler does not take, or that we cannot do. Call it before moto."""
        zone, now = body.get("ScheduleExpressionTimezone") or "UTC", self._clock.now()
        try:
            timetable.next_due(body.get("ScheduleExpression", ""), zone, since=now, after=now)
        except timetable.Unreadable as error:
            raise AwsError("ValidationException", str(error)) from error
        target = body.get("Target", {}).get("Arn", "")
        if ":sqs:" not in target and target != SUBMIT_JOB:
            raise AwsError(
                "UnsupportedOperation", f"the local cloud's schedules reach SQS queues and {SUBMIT_JOB}, not {target}"
            )

    def refresh(self, region: str) -> None:
        """Read a Region's schedules again. Call it after every request that may have changed them."""
        with self._lock:
            stored = {schedule.arn: schedule for schedule in self._store.all(region)}
            for arn, armed in list(self._armed.items()):
                if armed.schedule.region == region and stored.get(arn) != armed.schedule:
                    del self._armed[arn]
                    if armed.alarm:
                        armed.alarm.cancel()
            for arn, schedule in stored.items():
                if arn not in self._armed:
                    armed = self._armed[arn] = _Armed(schedule, schedule.start or self._clock.now())
                    self._arm(armed, after=self._clock.now())

    def _arm(self, armed: _Armed, after: float) -> None:
        """Set the alarm for the next time after `after`, or delete a schedule that wants to go when it is over."""
        schedule = armed.schedule
        after = max(after, (schedule.start or 0.0) - 1)
        moment = timetable.next_due(schedule.expression, schedule.zone, since=armed.since, after=after)
        if schedule.enabled and moment is not None and moment <= (schedule.end or float("inf")):
            armed.alarm = self._clock.after(moment - self._clock.now(), lambda: self._fire(armed, moment))
        elif schedule.delete_after and armed.alarm is not None:  # it has fired, and never will again
            self._store.delete(schedule)
            self._armed.pop(schedule.arn, None)

    def _fire(self, armed: _Armed, moment: float) -> None:
        """Send the input of a moment, and set the next alarm: after the moment, not after now.

        So a schedule fires as often as it would have when the clock has been moved far.
        """
        try:
            self._deliver(armed.schedule, moment)
        except AwsError as refusal:
            log.warning("%s did not reach its target: %s", armed.schedule.arn, refusal)
            self._bury(armed.schedule, moment, refusal)
        except Exception:
            log.exception("%s did not reach its target", armed.schedule.arn)
        with self._lock:
            if self._armed.get(armed.schedule.arn) is armed:
                self._arm(armed, after=moment)

    def _deliver(self, schedule: Schedule, moment: float) -> None:
        target = schedule.target
        text = _fill_in(target.get("Input", "{}"), schedule, moment)
        if target["Arn"] == SUBMIT_JOB:
            shape = validation.operation("batch", "SubmitJob")
            job = _as_batch_writes(json.loads(text), shape)
            self._starter.check(target.get("RoleArn", ""), schedule.region, job)
            self._batch[schedule.region].submit_job(job)
        else:
            self._store.send(schedule.region, target["Arn"].rpartition(":")[2], text)

    def _bury(self, schedule: Schedule, moment: float, refusal: AwsError) -> None:
        """Send what was refused to the queue for dead letters, with the attributes that Scheduler gives it."""
        target = schedule.target
        queue = target.get("DeadLetterConfig", {}).get("Arn", "")
        if not queue:
            return
        attributes = {
            "ERROR_CODE": refusal.code,
            "ERROR_MESSAGE": refusal.message,
            "EXECUTION_ID": str(uuid.uuid4()),
            "IS_PAYLOAD_TRUNCATED": "false",
            "RETRY_ATTEMPTS": "0",
            "SCHEDULED_TIME": _written(moment),
            "SCHEDULE_ARN": schedule.arn,
            "TARGET_ARN": target["Arn"],
        }
        text = _fill_in(target.get("Input", "{}"), schedule, moment)
        try:
            self._starter.check_letter(target.get("RoleArn", ""), schedule.region, queue)
            self._store.send(queue.split(":")[3], queue.rpartition(":")[2], text, attributes)
        except Exception:  # as in AWS, what cannot even be buried is lost
            log.exception("%s did not reach its queue for dead letters", schedule.arn)


def _written(moment: float) -> str:
    return datetime.fromtimestamp(moment, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _fill_in(text: str, schedule: Schedule, moment: float) -> str:
    """Put the values of Scheduler's context attributes into an input."""
    words = {
        "<aws.scheduler.schedule-arn>": schedule.arn,
        "<aws.scheduler.scheduled-time>": _written(moment),
        "<aws.scheduler.execution-id>": str(uuid.uuid4()),
        "<aws.scheduler.attempt-number>": "1",
    }
    for word, value in words.items():
        text = text.replace(word, value)
    return text


def _as_batch_writes(value: Any, shape: Shape | None) -> Any:
    """Rename the members of a universal target's input, which have a capital where Batch's own have none."""
    if shape is not None and shape.type_name == "structure" and isinstance(value, dict):
        members = {name.lower(): (name, member) for name, member in shape.members.items()}  # type: ignore[attr-defined]
        known = [(members[key.lower()], each) for key, each in value.items() if key.lower() in members]
        return {name: _as_batch_writes(each, member) for (name, member), each in known}
    if shape is not None and shape.type_name == "list" and isinstance(value, list):
        return [_as_batch_writes(each, shape.member) for each in value]  # type: ignore[attr-defined]
    return value
