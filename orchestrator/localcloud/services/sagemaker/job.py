"""One training job, and how DescribeTrainingJob tells of it."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator.localcloud.clock import Alarm

ENDED = ("Completed", "Failed", "Stopped")

_MESSAGES = {
    "Pending": "Preparing the instances for training",
    "Starting": "Starting the training job",
    "Downloading": "Downloading input data",
    "Training": "Training image download completed. Training in progress.",
    "Uploading": "Uploading generated training model",
    "Completed": "Training job completed",
    "Failed": "Training job failed",
    "Stopping": "Stopping the training job",
    "Stopped": "Training job stopped",
    "Interrupted": "Training job interrupted: the managed spot instances were taken away",
    "Restarting": "Restarting the training job",
    "MaxRuntimeExceeded": "Training job runtime exceeded MaxRuntimeInSeconds provided",
    "MaxWaitTimeExceeded": "Training job wait time exceeded MaxWaitTimeInSeconds provided",
}
_NOT_SHOWN = ("Tags", "SessionChainingConfig")


@dataclass(eq=False)
class Training:
    name: str
    arn: str
    region: str
    request: dict[str, Any]
    created: float
    status: str = "InProgress"
    secondary: str = "Starting"
    transitions: list[dict[str, Any]] = field(default_factory=list)
    modified: float = 0.0
    started: float | None = None
    ended: float | None = None
    failure: str | None = None
    artifact: str | None = None
    metrics: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By name."""
    tags: dict[str, str] = field(default_factory=dict)
    held: float = 0.0
    """How long it held instances that it has lost since."""
    since: float | None = None
    """When it got those that it holds."""
    retries: int = 0
    """How many a RetryStrategy has given it."""
    stopping: str | None = None
    """The secondary status it is to end with, once someone has asked for its end."""
    alarms: list[Alarm] = field(default_factory=list)

    @property
    def spot(self) -> bool:
        return bool(self.request.get("EnableManagedSpotTraining"))

    @property
    def instances(self) -> int:
        return int(self.request["ResourceConfig"]["InstanceCount"])

    @property
    def instance_type(self) -> str:
        return str(self.request["ResourceConfig"]["InstanceType"])

    @property
    def retries_left(self) -> int:
        return int(self.request.get("RetryStrategy", {}).get("MaximumRetryAttempts", 0)) - self.retries

    def move(self, secondary: str, now: float, message: str | None = None) -> None:
        """To the next secondary status; the one before it ends."""
        if self.transitions:
            self.transitions[-1]["EndTime"] = now
        self.secondary = secondary
        self.modified = now
        text = message or _MESSAGES.get(secondary, secondary)
        self.transitions.append({"Status": secondary, "StartTime": now, "StatusMessage": text})

    def end(self, status: str, secondary: str, now: float, message: str | None = None) -> None:
        """`message`: of a failure, its reason too."""
        self.release(now)
        if self.started is not None:
            self.ended = now
        self.move(secondary, now, message)
        self.transitions[-1]["EndTime"] = now
        self.status = status
        self.failure = message if status == "Failed" else None

    def hold(self, now: float) -> None:
        """It has got its instances."""
        self.since = now
        self.started = self.started or now

    def release(self, now: float) -> None:
        """It has them no longer."""
        if self.since is not None:
            self.held += now - self.since
            self.since = None

    @property
    def seconds(self) -> int:
        """How long it held its instances: at least two, for an instance is not had for less."""
        return max(2, math.ceil(self.held)) if self.ended is not None else 0

    @property
    def billable(self) -> int:
        """Spot is cheaper by a share that only the bill tells; ours hangs on the name, so a test can foretell it."""
        if not self.spot:
            return self.seconds
        draw = hashlib.sha256(f"{self.region}/{self.name}".encode()).digest()[0] / 255
        return min(self.seconds - 1, round(self.seconds * (0.25 + 0.35 * draw))) if self.seconds else 0

    def brief(self) -> dict[str, Any]:
        """As ListTrainingJobs shows it."""
        return {
            "TrainingJobName": self.name,
            "TrainingJobArn": self.arn,
            "CreationTime": self.created,
            "LastModifiedTime": self.modified,
            "TrainingJobStatus": self.status,
            "SecondaryStatus": self.secondary,
            **({"TrainingEndTime": self.ended} if self.ended else {}),
        }

    def describe(self) -> dict[str, Any]:
        shown = {key: value for key, value in self.request.items() if key not in _NOT_SHOWN}
        optional = {
            "FailureReason": self.failure,
            "TrainingStartTime": self.started,
            "TrainingEndTime": self.ended,
            "FinalMetricDataList": list(self.metrics.values()) or None,
            "ModelArtifacts": {"S3ModelArtifacts": self.artifact} if self.artifact else None,
            "TrainingTimeInSeconds": self.seconds or None,
            "BillableTimeInSeconds": self.billable if self.seconds else None,
        }
        return {
            "EnableNetworkIsolation": False,
            "EnableInterContainerTrafficEncryption": False,
            "EnableManagedSpotTraining": False,
            **shown,
            "TrainingJobArn": self.arn,
            "TrainingJobStatus": self.status,
            "SecondaryStatus": self.secondary,
            "CreationTime": self.created,
            "LastModifiedTime": self.modified,
            "SecondaryStatusTransitions": [dict(transition) for transition in self.transitions],
            **{key: value for key, value in optional.items() if value is not None},
        }
