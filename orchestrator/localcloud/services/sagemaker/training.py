"""A training job, and how DescribeTrainingJob shows it."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orchestrator.localcloud.services.sagemaker.wishes import wishes_of

if TYPE_CHECKING:
    from orchestrator.localcloud.clock import Alarm
    from orchestrator.localcloud.services.sagemaker.wishes import Wish

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
"""The message of a transition to each secondary status."""
_NOT_SHOWN = ("Tags", "SessionChainingConfig")
"""Parts of a request that DescribeTrainingJob does not give back."""


@dataclass(eq=False)
class Training:
    """A training job with all that has happened to it. The lifecycle's lock guards it.

    Moments are seconds since 1970.
    """

    name: str
    arn: str
    region: str
    request: dict[str, Any]
    """The CreateTrainingJob request."""
    created: float
    wishes: list[Wish] = field(default_factory=list)
    """What it may get: all that the request asks for, unless there is no quota for a part of it."""
    status: str = "InProgress"
    secondary: str = "Starting"
    """The secondary status."""
    transitions: list[dict[str, Any]] = field(default_factory=list)
    """All secondary statuses so far, as DescribeTrainingJob shows them."""
    modified: float = 0.0
    started: float | None = None
    """When the training got instances for the first time."""
    ended: float | None = None
    """When the training ended, if it ever got instances."""
    failure: str | None = None
    """The failure reason."""
    artifact: str | None = None
    """The address of the model in S3."""
    metrics: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The last value of each metric, by the metric's name."""
    tags: dict[str, str] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict, repr=False)
    """The variables that give its containers the training's role; none where they have the cloud's own key."""
    held: float = 0.0
    """Seconds for which the training held instances that it holds no longer."""
    since: float | None = None
    """When the training got the instances that it holds now; None when it holds none."""
    retries: int = 0
    """The number of times that the RetryStrategy has started the training again."""
    stopping: str | None = None
    """The secondary status to end with, once someone has asked the training to stop."""
    alarms: list[Alarm] = field(default_factory=list)
    """Time limits of the request, which end with the training."""

    def __post_init__(self) -> None:
        self.wishes = self.wishes or wishes_of(self.request["ResourceConfig"])
        self.wish = self.wishes[0]
        """What is selected, or will be if there is capacity."""

    @property
    def spot(self) -> bool:
        """True for managed spot training."""
        return bool(self.request.get("EnableManagedSpotTraining"))

    @property
    def isolated(self) -> bool:
        """True for a training under network isolation."""
        return bool(self.request.get("EnableNetworkIsolation"))

    @property
    def instances(self) -> int:
        """The number of instances."""
        return self.wish.instances

    @property
    def instance_type(self) -> str:
        """The type of the instances, such as ml.c5.xlarge."""
        return self.wish.instance_type

    @property
    def retries_left(self) -> int:
        """The number of times that the RetryStrategy may still start the training again."""
        return int(self.request.get("RetryStrategy", {}).get("MaximumRetryAttempts", 0)) - self.retries

    def move(self, secondary: str, now: float, message: str | None = None) -> None:
        """Enter the next secondary status, and end the one before. The message says why, if not as usual."""
        if self.transitions:
            self.transitions[-1]["EndTime"] = now
        self.secondary = secondary
        self.modified = now
        text = message or _MESSAGES.get(secondary, secondary)
        self.transitions.append({"Status": secondary, "StartTime": now, "StatusMessage": text})

    def end(self, status: str, secondary: str, now: float, message: str | None = None) -> None:
        """End the training. A message says why, if not as usual; for a failure it is the failure reason too."""
        self.release(now)
        if self.started is not None:
            self.ended = now
        self.move(secondary, now, message)
        self.transitions[-1]["EndTime"] = now
        self.status = status
        self.failure = message if status == "Failed" else None

    def hold(self, now: float) -> None:
        """Note that the training has got its instances."""
        self.since = now
        self.wishes = [self.wish]  # what was selected stays so
        self.started = self.started or now

    def release(self, now: float) -> None:
        """Note that the training has its instances no longer."""
        if self.since is not None:
            self.held += now - self.since
            self.since = None

    @property
    def training_seconds(self) -> int:
        """Seconds for which an ended training held its instances: at least two, as nobody gets one for less."""
        return max(2, math.ceil(self.held)) if self.ended is not None else 0

    @property
    def billable_seconds(self) -> int:
        """Seconds that are paid for. Spot is cheaper by a share that is made from the name, so tests can know it."""
        seconds = self.training_seconds
        if not self.spot or not seconds:
            return seconds
        draw = hashlib.sha256(f"{self.region}/{self.name}".encode()).digest()[0] / 255
        return min(seconds - 1, round(seconds * (0.25 + 0.35 * draw)))

    def brief(self) -> dict[str, Any]:
        """Return the training as ListTrainingJobs shows it."""
        shown = {
            "TrainingJobName": self.name,
            "TrainingJobArn": self.arn,
            "CreationTime": self.created,
            "LastModifiedTime": self.modified,
            "TrainingJobStatus": self.status,
            "SecondaryStatus": self.secondary,
        }
        if self.ended:
            shown["TrainingEndTime"] = self.ended
        return shown

    def _resource_config(self) -> dict[str, Any]:
        config: dict[str, Any] = self.request["ResourceConfig"]
        if "InstancePreferences" not in config or self.started is None:
            return config
        return {**config, "SelectedInstanceType": self.instance_type, "SelectedInstanceCount": self.instances}

    def describe(self) -> dict[str, Any]:
        """Return the training as DescribeTrainingJob shows it."""
        shown = {key: value for key, value in self.request.items() if key not in _NOT_SHOWN}
        optional = {
            "FailureReason": self.failure,
            "TrainingStartTime": self.started,
            "TrainingEndTime": self.ended,
            "FinalMetricDataList": list(self.metrics.values()) or None,
            "ModelArtifacts": {"S3ModelArtifacts": self.artifact} if self.artifact else None,
            "TrainingTimeInSeconds": self.training_seconds or None,
            "BillableTimeInSeconds": self.billable_seconds if self.training_seconds else None,
        }
        return {
            "EnableNetworkIsolation": False,
            "EnableInterContainerTrafficEncryption": False,
            "EnableManagedSpotTraining": False,
            **shown,
            "ResourceConfig": self._resource_config(),
            "OutputDataConfig": {"KmsKeyId": "", **self.request["OutputDataConfig"]},
            "TrainingJobArn": self.arn,
            "TrainingJobStatus": self.status,
            "SecondaryStatus": self.secondary,
            "CreationTime": self.created,
            "LastModifiedTime": self.modified,
            "SecondaryStatusTransitions": [dict(transition) for transition in self.transitions],
            **{key: value for key, value in optional.items() if value is not None},
        }
