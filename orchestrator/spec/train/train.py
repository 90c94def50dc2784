"""`train`: how one training runs. Code, image, processes, environment, instances."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PrivateAttr, model_validator

from orchestrator.errors import did_you_mean
from orchestrator.spec.duration import DAY, MINUTE, between, seconds
from orchestrator.spec.model import Hyperparameter, Model, shown, wrong
from orchestrator.spec.train.channels import DATA, ChannelName, Channels, find_clash, lacks
from orchestrator.spec.train.environment import Environment
from orchestrator.spec.train.framework import Framework
from orchestrator.spec.train.image import Image
from orchestrator.spec.train.metrics import Metrics
from orchestrator.spec.train.start import Start

if TYPE_CHECKING:
    from pydantic import ModelWrapValidatorHandler

MAX_INSTANCE_COUNTS = 8
"""Numbers of instances that a plan may choose from, at most."""
MAX_INSTANCES = 10_000
"""Instances of one training, at most."""
MAX_PROCESSES = 1_000
"""Processes on one instance, at most: no instance has as many processors."""
AUTO = "auto"
"""The value of `processes_per_instance` that stands for the GPUs of each instance type."""

_SPELLINGS = {"horovod": "mpi", "ddp": "torchrun", "pytorchddp": "torchrun"}
_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,255}")


class Checkpoints(Model):
    """Trainings save to /opt/ml/checkpoints, and go on from there when started again."""

    every: Annotated[str, between(1, DAY)] = Field(default="15m", description="how often the training saves")
    folder: str | None = Field(
        default=None,
        pattern=r"^(/[^/\x00]+)+/?$",
        max_length=4096,
        description="where the script saves, as /var/saved, instead of /opt/ml/checkpoints",
    )
    any_instances: bool = Field(
        default=False,
        exclude_if=lambda value: not value,
        description="true: a checkpoint fits a training on another number of instances",
    )


def _canonical_parallel(value: Any) -> Any:
    return _SPELLINGS.get(value, value) if isinstance(value, str) else value


def _processes(value: Any) -> Any:
    hint = "leave it out for one a GPU"
    if value is None or value == AUTO:
        return value
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise wrong(f"expected a number of processes or {AUTO}, got {shown(value)}", hint=hint)
    if value > MAX_PROCESSES:
        raise wrong(f"{shown(value)} processes are more than {MAX_PROCESSES:,}, the most of an instance", hint=hint)
    return value


def _instances(value: Any) -> Any:
    """Check a number of instances, or a list of numbers to choose from."""
    if not isinstance(value, list):
        _check_count(value, "a number of instances, or a list of them")
        return value
    if not 1 <= len(value) <= MAX_INSTANCE_COUNTS:
        raise wrong(
            f"expected 1 to {MAX_INSTANCE_COUNTS} numbers of instances to choose from, got {len(value)}",
            hint="each is planned for at every place",
        )
    for index, count in enumerate(value):
        _check_count(count, "a number of instances", (index,))
        if count in value[:index]:
            raise wrong(f"{count} is listed twice", at=(index,))
    return value


def _check_count(value: Any, expected: str, at: tuple[int, ...] = ()) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        hint = "write `instances: 2`, or `instances: [1, 2, 4]`"
        raise wrong(f"expected {expected} from 1 on, got {shown(value)}", hint=hint, at=at)
    if value > MAX_INSTANCES:
        hint = "tasks of a sweep run side by side: this is the number for one of them"
        raise wrong(
            f"{shown(value)} instances are more than {MAX_INSTANCES:,}, the most of one training", hint=hint, at=at
        )


def parameter_name(name: str) -> str:
    """Return the name of a parameter if a training can have a command-line option of that name."""
    if not _PARAMETER.fullmatch(name):
        raise wrong(
            f"{shown(name)} cannot name a parameter", hint="letters, digits, _ - and . after a letter or _; at most 256"
        )
    if name.startswith("sweep_"):
        raise wrong(f"{name!r} is taken: names that begin with sweep_ are not passed to your code")
    return name


def _closed_quotes(options: str) -> str:
    try:
        shlex.split(options)
    except ValueError as error:
        hint = "close the quote, or leave it out"
        raise wrong(f"the options cannot be split into words: {str(error).lower()}", hint=hint) from error
    return options


def _hyperparameters(values: dict[str, Any]) -> dict[str, Any]:
    for name in values:
        parameter_name(name)
    return values


Parallel = Annotated[
    Literal["single", "mpi", "torchrun", "smddp"],
    BeforeValidator(
        _canonical_parallel,
        json_schema_input_type=Literal["single", "mpi", "horovod", "torchrun", "ddp", "pytorchddp", "smddp"],
    ),
]


class Train(Start):
    """The code, the image it runs in, and how its processes start."""

    image: Image | None = Field(default=None, min_length=1, description="may contain {region} and {account}")
    framework: Framework | None = Field(default=None, description="instead of an image: one of AWS's own")
    parallel: Parallel = Field(default="single", description="how processes start")
    instances: Annotated[int | list[int], BeforeValidator(_instances)] = Field(
        default=1,
        json_schema_extra={
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": MAX_INSTANCES},
                {
                    "type": "array",
                    "items": {"type": "integer", "minimum": 1, "maximum": MAX_INSTANCES},
                    "minItems": 1,
                    "maxItems": MAX_INSTANCE_COUNTS,
                    "uniqueItems": True,
                },
            ]
        },
        description="machines of one training; a list such as [1, 2, 4] leaves the choice among them to the plan",
    )
    efficiency: float | None = Field(
        default=None, gt=0.5, le=1, description="share of its speed that a training keeps when its instances double"
    )
    processes_per_instance: Annotated[int | Literal["auto"] | None, BeforeValidator(_processes)] = Field(
        default=None,
        json_schema_extra={
            "anyOf": [{"type": "integer", "minimum": 1, "maximum": MAX_PROCESSES}, {"const": AUTO}, {"type": "null"}]
        },
        description="left to the image unless given, which starts one a GPU; auto says the GPUs of each type",
    )
    mpi_options: Annotated[str, AfterValidator(_closed_quotes)] = Field(
        default="", max_length=2000, description="further options of mpirun"
    )
    environment: Environment = Field(
        default={},
        description="variables of every training: text, in quotes, with {name} for a parameter; or where a secret lies",
    )
    hyperparameters: Annotated[dict[str, Hyperparameter], AfterValidator(_hyperparameters)] = Field(
        default={}, description="sent to every task as they are; lists and mappings too"
    )
    metrics: Metrics = Field(
        default={}, description="names, as the script reports them; or name → regex over the log, with one group"
    )
    data_channel: ChannelName = Field(
        default=DATA, description="the folder of the dataset in /opt/ml/input/data: train is $SM_CHANNEL_TRAIN"
    )
    channels: Channels = Field(
        default={}, description="further folders there, the same for all tasks: name → S3 URI, or a URI for each Region"
    )
    checkpoints: Checkpoints | None = Field(default=None, description="whether trainings save and go on")
    stall: Annotated[str, between(5 * MINUTE, DAY)] | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="a training whose log is silent for so long is ended, as failed; never unless said",
    )
    end_on_nan: str | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="a metric: a training is ended, as failed, when it is no finite number",
    )
    volume_gb: int = Field(default=30, ge=1, le=16_384, description="disk of each instance")
    _wants_horovod: bool = PrivateAttr(default=False)

    @model_validator(mode="after")
    def _watched_metric_is_measured(self) -> Train:
        if self.end_on_nan is not None and self.end_on_nan not in self.metrics:
            hint = did_you_mean(self.end_on_nan, list(self.metrics)) or "train.metrics is empty"
            raise wrong(f"{self.end_on_nan!r} is not a metric of train.metrics", hint=hint, at=("end_on_nan",))
        return self

    def check_stall(self, timeout: str) -> None:
        """Raise `wrong` if no log can be silent for so long, because the time-out comes first."""
        if self.stall is not None and seconds(self.stall) >= seconds(timeout):
            hint = f"say less than {timeout}, or leave the line out"
            message = f"a log cannot be silent for {self.stall}: the timeout ends a training after {timeout}"
            raise wrong(message, hint=hint, at=("train", "stall"))

    @property
    def instance_counts(self) -> tuple[int, ...]:
        """The numbers of instances that one training may have, the smallest first."""
        return tuple(sorted(self.instances)) if isinstance(self.instances, list) else (self.instances,)

    @property
    def may_change_instances(self) -> bool:
        """True if a training may be started again on another number of instances: no checkpoint can be in the way."""
        return self.checkpoints is None or self.checkpoints.any_instances

    @property
    def wants_horovod(self) -> bool:
        """True if the file says `parallel: horovod`. It is read as mpi, but the image must have Horovod.

        It is known of a sweep that was read from its file, not of one that a plan has kept.
        """
        return self._wants_horovod

    @model_validator(mode="after")
    def _at_most_one_image(self) -> Train:
        if self.image is not None and self.framework is not None:
            raise wrong("image and framework exclude each other", hint="keep one of them", at=("framework",))
        return self

    @model_validator(mode="after")
    def _channels_are_distinct(self) -> Train:
        for name in self.channels:
            if name == self.data_channel:
                hint = "rename this one; or let `data_channel` give the dataset's another name"
                raise wrong(f"{name} is the dataset's own channel", hint=hint, at=("channels", name))
            other = find_clash(name, self.all_channels)
            if other:
                raise wrong(f"the channels {name} and {other} have one variable", at=("channels", name))
        return self

    @model_validator(mode="after")
    def _variables_are_free(self) -> Train:
        """Refuse names that AWS's toolkit and our starter set: only what an image starts by itself has none of them."""
        for name in () if self.starts_image else self.environment:
            if name.startswith("SM_"):
                hint = "AWS's toolkit says facts of a training in SM_*; name the variable otherwise"
                raise wrong(f"{name} is set when a training starts", hint=hint, at=("environment", name))
        return self

    @property
    def names_channels(self) -> bool:
        """True unless the dataset is all that a training reads, under the name that it always has."""
        return bool(self.channels) or self.data_channel != DATA

    def lacks_in(self, region: str) -> str:
        """Return in words which fixed channel has no data in a Region; nothing if all have."""
        return lacks(self.channels, region)

    @property
    def all_channels(self) -> tuple[str, ...]:
        """The names of all channels, the dataset's first."""
        return (self.data_channel, *self.channels)

    @model_validator(mode="after")
    def _processes_can_start(self) -> Train:
        if self.parallel == "single" and self.processes_per_instance not in (None, 1):
            raise wrong(
                "single is one process an instance",
                hint="set parallel to mpi or torchrun",
                at=("processes_per_instance",),
            )
        if self.starts_image and self.parallel != "single":
            raise wrong("the image decides how its processes start", hint="leave the line out", at=("parallel",))
        if self.parallel == "smddp" and self.processes_per_instance not in (None, AUTO):
            raise wrong("smddp is always one process a GPU", hint="leave the line out", at=("processes_per_instance",))
        if self.parallel not in ("mpi", "smddp") and self.mpi_options:
            raise wrong(
                f"{self.parallel} does not use mpirun",
                hint="leave the line out, or set parallel to mpi or smddp",
                at=("mpi_options",),
            )
        return self

    @model_validator(mode="wrap")
    @classmethod
    def _remember_horovod(cls, body: Any, validate: ModelWrapValidatorHandler[Train]) -> Train:
        """Note the spelling `horovod` before it becomes `mpi`, which says nothing of Horovod."""
        train = validate(body)
        if isinstance(body, dict):
            train._wants_horovod = body.get("parallel") == "horovod"
        return train
