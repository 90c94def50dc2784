"""What we use of moto, but for its IAM and ECR. When a new moto moves any of it, its test fails before all others.

moto answers for S3, IAM, STS, CloudWatch Logs, EventBridge, SQS and the rest. Batch jobs and SageMaker trainings must
really run, so they are ours (batch/, sagemaker/). A request comes to ours before it comes to moto (http/gateway.py).
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.events.models import events_backends
from moto.iam.models import iam_backends
from moto.logs.models import logs_backends
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from moto.s3.exceptions import MissingBucket
from moto.s3.models import FakeKey, s3_backends
from moto.scheduler.models import scheduler_backends
from moto.sqs.models import sqs_backends

from orchestrator.localcloud.services.moto.corrections import correct_moto

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

ACCOUNT: str = DEFAULT_ACCOUNT_ID
PARTITION = "aws"
RequestHandler = MotoRequestHandler

correct_moto()


def application() -> Any:
    """Return moto's own WSGI application, for every service that is not ours."""
    return _Dispatcher(_application_of)


class _Dispatcher(DomainDispatcherApplication):
    """Finds the service at a host as moto does, but once: moto looks through its folders at every request."""

    def __init__(self, create_app: Callable[[Any], Any]) -> None:
        super().__init__(create_app)
        self._services: dict[str | None, Any] = {}

    def get_backend_for_host(self, host: str | None) -> Any:
        """Return the name of the service at a host."""
        if host not in self._services:
            self._services[host] = super().get_backend_for_host(host)
        return self._services[host]


def _application_of(service: Any) -> Any:
    if service is None:
        raise NotImplementedError("moto has no such service")
    return create_backend_app(service)


def secret_of(key_id: str) -> str | None:
    """Return the secret of a key that was made here by IAM, or by STS for an assumed role; None for any other."""
    for partitions in list(iam_backends.values()):
        key = partitions[PARTITION].access_keys.get(key_id)
        if key is not None:
            return str(key.secret_access_key) if key.status == "Active" else None
    return None


class Objects:
    """The buckets of the account, in all Regions. They are read and written in memory, without a request."""

    def __init__(self) -> None:
        self._backend = s3_backends[ACCOUNT][PARTITION]

    def create_bucket(self, name: str, region: str) -> None:
        """Create a bucket in a Region."""
        self._backend.create_bucket(name, region)

    def region(self, bucket: str) -> str | None:
        """Return the Region that a bucket lies in; None when there is no bucket of this name."""
        try:
            return str(self._backend.get_bucket(bucket).region_name)
        except MissingBucket:
            return None

    def keys(self, bucket: str, prefix: str) -> list[str]:
        """Return the keys of a bucket that begin with a prefix, sorted."""
        stored = self._backend.get_bucket(bucket).keys
        return sorted(key for key in list(stored) if key.startswith(prefix) and isinstance(stored.get(key), FakeKey))

    def has(self, bucket: str, key: str) -> bool:
        """Say whether a bucket has an object; not that there is no bucket."""
        stored = self._backend.buckets.get(bucket)
        return stored is not None and isinstance(stored.keys.get(key), FakeKey)

    def sizes(self) -> list[dict[str, Any]]:
        """Return for each bucket its name, its Region, and how many objects and bytes it holds."""
        found = []
        for name, bucket in list(self._backend.buckets.items()):
            sizes = [each.size for each in list(bucket.keys.values()) if isinstance(each, FakeKey)]
            found.append({"name": name, "region": bucket.region_name, "objects": len(sizes), "bytes": sum(sizes)})
        return found

    def read(self, bucket: str, key: str) -> bytes:
        """Return an object's content; KeyError when there is no such object."""
        return bytes(self._backend.get_bucket(bucket).keys[key].value)

    def facts(self, bucket: str, key: str) -> tuple[int, float]:
        """Return an object's size in bytes, and when it was written; KeyError when there is no such object."""
        stored = self._backend.get_bucket(bucket).keys[key]
        return int(stored.size), float(stored.last_modified.timestamp())

    def read_part(self, bucket: str, key: str, offset: int, size: int) -> bytes:
        """Return a part of an object's content, without touching the rest; KeyError when there is no such object."""
        stored = self._backend.get_bucket(bucket).keys[key]
        with stored.lock:
            stored._value_buffer.seek(offset)
            return bytes(stored._value_buffer.read(size))

    def write(self, bucket: str, key: str, body: bytes) -> None:
        """Write an object, over one that is there already."""
        self._backend.put_object(bucket, key, body)


class Networks:
    """The subnets and security groups of the account, in all Regions.

    moto's EC2 is imported on first use: that takes as long as all else of a cloud's start.
    """

    def vpc_of(self, region: str, name: str) -> str | None:
        """Return the VPC that a subnet or a security group belongs to; None when the Region has none of this id."""
        from moto.ec2.exceptions import InvalidSubnetIdError
        from moto.ec2.models import ec2_backends

        backend = ec2_backends[ACCOUNT][region]
        try:
            found = backend.get_subnet(name) if name.startswith("subnet-") else backend.get_security_group_from_id(name)
        except InvalidSubnetIdError:
            return None
        return None if found is None else str(found.vpc_id)


class LogStreams:
    """CloudWatch Logs, as those use it who write to it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def create_group(self, region: str, group: str) -> None:
        """Create a log group, unless it is there."""
        logs_backends[ACCOUNT][region].ensure_log_group(group)

    def create(self, region: str, group: str, stream: str) -> None:
        """Create a log stream and its group, unless they are there."""
        with self._lock:
            backend = logs_backends[ACCOUNT][region]
            backend.ensure_log_group(group)
            backend.ensure_log_stream(group, stream)

    def put(self, region: str, group: str, stream: str, millis: int, lines: Iterable[str]) -> None:
        """Add lines to a stream, all with one time.

        They go into the group itself. PutLogEvents would refuse a time hours ahead, and our clock may be that far.
        """
        events = [{"timestamp": millis, "message": line} for line in lines]
        with self._lock:
            logs_backends[ACCOUNT][region].groups[group].put_log_events(stream, events)


class Rules:
    """EventBridge's rules, on the default bus."""

    def any_in(self, region: str) -> bool:
        """Say whether a Region has any rule."""
        return bool(self._in(region))

    def send(self, region: str, event: dict[str, Any]) -> None:
        """Send an event to the targets of each rule that asks for it."""
        event = {**event, "ingestion-time": event["time"]}  # which moto wants; the targets do not see it
        for rule in list(self._in(region).values()):
            if rule.state == "ENABLED":
                rule.send_to_targets(event)

    def _in(self, region: str) -> dict[str, Any]:
        rules: dict[str, Any] = events_backends[ACCOUNT][region].event_buses["default"].rules
        return rules


@dataclass(frozen=True)
class Schedule:
    """A schedule of EventBridge Scheduler. Moments are seconds since 1970."""

    region: str
    arn: str
    group: str
    name: str
    expression: str
    """When the schedule is due: an at(), rate() or cron() expression."""
    zone: str
    """The time zone that the expression is meant in."""
    enabled: bool
    start: float | None
    """The schedule does not fire before this moment."""
    end: float | None
    """The schedule does not fire after this moment."""
    delete_after: bool
    """True when the schedule is deleted once it has fired for the last time."""
    written: float
    """When the schedule was last changed."""
    target_json: str
    """The target as JSON, so that schedules can be compared."""

    @property
    def target(self) -> dict[str, Any]:
        """The target's ARN and input, as CreateSchedule gave them."""
        found: dict[str, Any] = json.loads(self.target_json)
        return found


class ScheduleStore:
    """The schedules that moto keeps, and the queues that they send to."""

    def all(self, region: str) -> list[Schedule]:
        """Return all schedules of a Region."""
        groups = scheduler_backends[ACCOUNT][region].schedule_groups.values()
        return [_schedule(region, each) for group in groups for each in group.schedules.values()]

    def delete(self, schedule: Schedule) -> None:
        """Delete a schedule."""
        scheduler_backends[ACCOUNT][schedule.region].delete_schedule(schedule.group, schedule.name)

    def send(self, region: str, queue: str, text: str, attributes: Mapping[str, str] | None = None) -> None:
        """Send a message to an SQS queue, with texts as its attributes."""
        said = {name: {"DataType": "String", "StringValue": value} for name, value in (attributes or {}).items()}
        sqs_backends[ACCOUNT][region].send_message(queue_name=queue, message_body=text, message_attributes=said)


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


def create_queue(region: str, name: str) -> None:
    """Create an SQS queue in a Region."""
    sqs_backends[ACCOUNT][region].create_queue(name)


def create_role(name: str, *principals: str) -> str:
    """Create a role that services may assume, and that may do everything; return its ARN."""
    actions = ["sts:AssumeRole", "sts:TagSession"]
    may_assume = {"Effect": "Allow", "Principal": {"Service": list(principals)}, "Action": actions}
    role = iam_backends[ACCOUNT][PARTITION].create_role(
        role_name=name,
        assume_role_policy_document=json.dumps({"Version": "2012-10-17", "Statement": [may_assume]}),
        path="/",
        permissions_boundary=None,
        description="",
        tags=[],
        max_session_duration="3600",
    )
    everything = {"Effect": "Allow", "Action": "*", "Resource": "*"}
    role.put_policy("everything", json.dumps({"Version": "2012-10-17", "Statement": [everything]}))
    return str(role.arn)


def create_profile(role: str) -> None:
    """Create an instance profile that is called like its role, as AWS's console does."""
    iam_backends[ACCOUNT][PARTITION].create_instance_profile(role, "/", [role])
