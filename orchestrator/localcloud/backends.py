"""All that we touch of moto, in one file: tests/localcloud/test_backends.py fails when a new moto moves any of it.

moto answers for S3, IAM, STS, CloudWatch Logs, EventBridge, SQS and the rest. Batch jobs and SageMaker trainings, which
must really run, are ours (batch/, training/), and stand before moto (gateway.py). Ours need three things of moto's: its
WSGI application, the objects in its buckets, and its log streams.
"""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.iam.models import iam_backends
from moto.logs.models import logs_backends
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from moto.s3.exceptions import MissingBucket
from moto.s3.models import FakeKey, s3_backends

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
