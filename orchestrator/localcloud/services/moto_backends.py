"""All that we touch of moto, in one file: tests/localcloud/test_backends.py fails when a new moto moves any of it.

moto answers for S3, IAM, STS, CloudWatch Logs, EventBridge, SQS and the rest. Batch jobs and SageMaker trainings, which
must really run, are ours (batch/, training/), and stand before moto (gateway.py). Ours need three things of moto's: its
WSGI application, the objects in its buckets, and its log streams.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.ecr.models import ecr_backends
from moto.events.models import events_backends
from moto.iam.models import iam_backends
from moto.logs.models import logs_backends
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from moto.s3.exceptions import MissingBucket
from moto.s3.models import FakeKey, s3_backends
from moto.scheduler.models import scheduler_backends
from moto.sqs.models import sqs_backends

if TYPE_CHECKING:
    from collections.abc import Iterable

ACCOUNT: str = DEFAULT_ACCOUNT_ID
PARTITION = "aws"
RequestHandler = MotoRequestHandler


def application() -> Any:
    """moto's own WSGI application, for every service that is not ours."""
    return DomainDispatcherApplication(_application_of)


def _application_of(service: Any) -> Any:
    if service is None:
        raise NotImplementedError("moto has no such service")
    return create_backend_app(service)


class Objects:
    """The buckets of the account, read and written in memory: no request, no copy over a socket."""

    def __init__(self) -> None:
        self._backend = s3_backends[ACCOUNT][PARTITION]

    def create_bucket(self, name: str, region: str) -> None:
        self._backend.create_bucket(name, region)

    def region(self, bucket: str) -> str | None:
        """Where a bucket lies; None when there is none of this name."""
        try:
            return str(self._backend.get_bucket(bucket).region_name)
        except MissingBucket:
            return None

    def keys(self, bucket: str, prefix: str) -> list[str]:
        stored = self._backend.get_bucket(bucket).keys
        return sorted(key for key in list(stored) if key.startswith(prefix) and isinstance(stored.get(key), FakeKey))

    def sizes(self) -> list[dict[str, Any]]:
        """Of each bucket: its Region, how many objects it holds, how many bytes."""
        found = []
        for name, bucket in list(self._backend.buckets.items()):
            sizes = [each.size for each in list(bucket.keys.values()) if isinstance(each, FakeKey)]
            found.append({"name": name, "region": bucket.region_name, "objects": len(sizes), "bytes": sum(sizes)})
        return found

    def read(self, bucket: str, key: str) -> bytes:
        return bytes(self._backend.get_bucket(bucket).keys[key].value)

    def write(self, bucket: str, key: str, body: bytes) -> None:
        self._backend.put_object(bucket, key, body)


class Streams:
    """CloudWatch Logs, from the side that writes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def create_group(self, region: str, group: str) -> None:
        logs_backends[ACCOUNT][region].ensure_log_group(group)

    def create(self, region: str, group: str, stream: str) -> None:
        with self._lock:
            backend = logs_backends[ACCOUNT][region]
            backend.ensure_log_group(group)
            backend.ensure_log_stream(group, stream)

    def put(self, region: str, group: str, stream: str, millis: int, lines: Iterable[str]) -> None:
        """Into the group itself: PutLogEvents refuses what is hours ahead, as our clock may well be."""
        events = [{"timestamp": millis, "message": line} for line in lines]
        with self._lock:
            logs_backends[ACCOUNT][region].groups[group].put_log_events(stream, events)


class Repositories:
    """ECR's, of all Regions."""

    def exist(self, name: str) -> bool:
        return any(name in backend.repositories for backend in ecr_backends[ACCOUNT].values())


class Rules:
    """EventBridge's rules, on the default bus."""

    def exist(self, region: str) -> bool:
        return bool(self._of(region))

    def send(self, region: str, event: dict[str, Any]) -> None:
        """To the targets of each rule that asks for it; they do not see when it came in."""
        event = {**event, "ingestion-time": event["time"]}
        for rule in list(self._of(region).values()):
            if rule.state == "ENABLED":
                rule.send_to_targets(event)

    def _of(self, region: str) -> dict[str, Any]:
        rules: dict[str, Any] = events_backends[ACCOUNT][region].event_buses["default"].rules
        return rules


@dataclass(frozen=True)
class Schedule:
    """A schedule of EventBridge Scheduler."""

    region: str
    arn: str
    group: str
    name: str
    expression: str
    zone: str
    enabled: bool
    start: float | None
    end: float | None
    delete_after: bool
    written: float
    """When it was last changed."""
    target_json: str

    @property
    def target(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.target_json)
        return found


class ScheduleStore:
    """The schedules that moto keeps, and the queues that they send to."""

    def all(self, region: str) -> list[Schedule]:
        groups = scheduler_backends[ACCOUNT][region].schedule_groups.values()
        return [_schedule(region, each) for group in groups for each in group.schedules.values()]

    def delete(self, schedule: Schedule) -> None:
        scheduler_backends[ACCOUNT][schedule.region].delete_schedule(schedule.group, schedule.name)

    def send(self, region: str, queue: str, text: str) -> None:
        sqs_backends[ACCOUNT][region].send_message(queue_name=queue, message_body=text)


def _schedule(region: str, stored: Any) -> Schedule:
    return Schedule(
        region=region,
        arn=stored.arn,
        group=stored.group_name,
        name=stored.name,
        expression=stored.schedule_expression,
        zone=stored.schedule_expression_timezone,
        enabled=stored.state == "ENABLED",
        start=_moment(stored.start_date),
        end=_moment(stored.end_date),
        delete_after=stored.action_after_completion == "DELETE",
        written=stored.last_modified_date,
        target_json=json.dumps(stored.target, sort_keys=True),
    )


def _moment(value: Any) -> float | None:
    return None if value is None else float(value)


def create_role(name: str, principal: str) -> str:
    """The ARN of a role that a service may assume."""
    may = {"Effect": "Allow", "Principal": {"Service": principal}, "Action": "sts:AssumeRole"}
    role = iam_backends[ACCOUNT][PARTITION].create_role(
        role_name=name,
        assume_role_policy_document=json.dumps({"Version": "2012-10-17", "Statement": [may]}),
        path="/",
        permissions_boundary=None,
        description="",
        tags=[],
        max_session_duration="3600",
    )
    return str(role.arn)
