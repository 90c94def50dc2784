"""A Region full of trainings that never run: only when they begin and end is known, by a clock that jumps.

Every call to SageMaker and CloudWatch Logs is a real one, answered and counted where it would leave this machine.
"""

from __future__ import annotations

import io
import json
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from botocore.awsrequest import AWSResponse

from orchestrator.aws.s3 import Stored, Written
from orchestrator.errors import AlreadyExists, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.aws.session import Clients

REGION = "us-east-1"
WINDOW_S = 60
"""Seconds over which calls are averaged."""
LISTED_LATE_S = 5.0
"""Seconds after which a listing shows that a training has ended: listings lag behind."""
PAGE = 100


@dataclass
class Region:
    """SageMaker, CloudWatch Logs and a control bucket in one Region, with a clock of their own."""

    now: float = 1_800_000_000.0
    lives: dict[str, tuple[float, float]] = field(default_factory=dict)
    """When each training begins and ends."""
    calls: dict[str, Counter[int]] = field(default_factory=dict)
    """Calls in each window of time, by operation."""
    _begun: list[tuple[float, str]] = field(default_factory=list)
    """Trainings in the order of their beginnings."""

    def serve(self, clients: Clients) -> None:
        """Answer every call that these clients make to SageMaker and CloudWatch Logs."""
        for service in ("sagemaker", "logs"):
            clients.client(service, REGION).meta.events.register_first(f"before-send.{service}", self._answer)  # type: ignore[arg-type]

    def start(self, training: str, seconds: float) -> None:
        self.lives[training] = (self.now, self.now + seconds)
        self._begun.append((self.now, training))

    def count(self, operation: str) -> None:
        self.calls.setdefault(operation, Counter())[int(self.now // WINDOW_S)] += 1

    def rate(self, operation: str) -> float:
        """Return the most calls in a second, in any window."""
        return max(self.calls.get(operation, Counter()).values(), default=0) / WINDOW_S

    def _answer(self, request: Any, **_: Any) -> AWSResponse:
        target = request.headers["X-Amz-Target"]
        operation = (target.decode() if isinstance(target, bytes) else target).partition(".")[2]
        self.count(operation)
        answer = getattr(self, f"_{operation}")(json.loads(request.body))
        return AWSResponse(request.url, 200, {}, _Raw(json.dumps(answer).encode()))  # type: ignore[arg-type]

    def _DescribeTrainingJob(self, asked: dict[str, Any]) -> dict[str, Any]:  # noqa: N802 (AWS's name)
        return self._job(asked["TrainingJobName"], self.now) | {
            "SecondaryStatus": "Training",
            "ResourceConfig": {"InstanceCount": 1, "InstanceType": "ml.g5.xlarge", "VolumeSizeInGB": 30},
            "StoppingCondition": {"MaxRuntimeInSeconds": 86_400},
            "AlgorithmSpecification": {"TrainingInputMode": "File"},
        }

    def _ListTrainingJobs(self, asked: dict[str, Any]) -> dict[str, Any]:  # noqa: N802 (AWS's name)
        names = asked["NextToken"].split() if "NextToken" in asked else self._modified(asked["LastModifiedTimeAfter"])
        shown = self.now - LISTED_LATE_S
        answer: dict[str, Any] = {"TrainingJobSummaries": [self._job(name, shown) for name in names[:PAGE]]}
        return answer | ({"NextToken": " ".join(names[PAGE:])} if names[PAGE:] else {})

    def _modified(self, since: float) -> list[str]:
        """Return the trainings that have begun or ended since then, in the order of their beginnings."""
        shown = self.now - LISTED_LATE_S
        recent = {name for _, name in self._begun[bisect_left(self._begun, (since, "")) :]}
        return [name for name, (_, end) in self.lives.items() if name in recent or since <= end <= shown]

    def _job(self, name: str, now: float) -> dict[str, Any]:
        began, ends = self.lives[name]
        job: dict[str, Any] = {
            "TrainingJobName": name,
            "TrainingJobArn": f"arn:aws:sagemaker:{REGION}:123456789012:training-job/{name}",
            "TrainingJobStatus": "Completed" if ends <= now else "InProgress",
            "CreationTime": began,
            "TrainingStartTime": began,
        }
        return job | ({"TrainingEndTime": ends} if ends <= now else {})

    def _DescribeLogStreams(self, asked: dict[str, Any]) -> dict[str, Any]:  # noqa: N802 (AWS's name)
        return {"logStreams": [{"logStreamName": f"{asked['logStreamNamePrefix']}1"}]}

    def _GetLogEvents(self, asked: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002, N802 (AWS's name)
        return {"events": [], "nextForwardToken": "f/1"}


class Bucket:
    """A control bucket in memory: what `Control` needs of it for boards."""

    bucket = "control"

    def __init__(self, region: Region) -> None:
        self._region = region
        self._objects: dict[str, Stored] = {}

    def get(self, key: str) -> Stored:
        self._region.count("GetObject")
        if key not in self._objects:
            raise NotFound("no such key", where=key)
        there = self._objects[key]
        return Stored(there.body, there.etag, self._moment)

    def write(self, key: str, body: bytes, etag: str | None) -> Written:
        self._region.count("PutObject")
        there = self._objects.get(key)
        if (there.etag if there else None) != etag:
            raise AlreadyExists("lost", where=key)
        self._objects[key] = Stored(body, f"{int(there.etag) + 1}" if there else "1")
        return Written(self._objects[key].etag, self._moment)

    def uri(self, key: str) -> str:
        return f"s3://control/{key}"

    @property
    def _moment(self) -> int:
        return int(self._region.now * 1000)


class _Raw(io.BytesIO):
    def stream(self, **_: Any) -> Iterator[bytes]:
        yield self.read()
