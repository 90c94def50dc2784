"""The sweep file's model. What may be written, and nothing else: unknown keys are errors."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from orchestrator.wire.task import Purchase, Scalar


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Data(Model):
    """Which datasets to train on: all that match every line given."""

    campaigns: list[str] = Field(default=[], description="names; empty is every campaign")
    tags: list[str] = Field(default=[], description="only campaigns with all of these tags")
    recorded_from: date | None = None
    recorded_to: date | None = None
    version: str = Field(default="latest", description="dataset version, or `latest` of each campaign")


class Framework(Model):
    """One of AWS's own images, looked up for each Region when the sweep is submitted."""

    name: Literal["pytorch", "tensorflow"]
    version: str
    python: str = "py3"


class Checkpoints(Model):
    every: str = Field(default="15m", description="how often the training saves")


class Train(Model):
    entry_point: str
    source: str = Field(description="folder, beside the sweep file")
    image: str | None = Field(default=None, description="may contain {region} and {account}")
    framework: Framework | None = None
    parallel: Literal["single", "mpi", "torchrun", "smddp"] = "single"  # horovod, ddp: spelt out by a validator
    instances: int = Field(default=1, ge=1)
    processes_per_instance: int = Field(default=1, ge=1)
    mpi_options: str = ""
    environment: dict[str, str] = {}
    hyperparameters: dict[str, Scalar] = Field(default={}, description="sent to every task as they are")
    metrics: dict[str, str] = Field(default={}, description="name → regex with one group")
    checkpoints: Checkpoints | None = None
    volume_gb: int = Field(default=30, ge=1)


class Where(Model):
    """What may be bought, and where data may be trained on."""

    regions: list[str] = Field(default=[], description="allowed Regions (residency); empty is wherever a replica is")
    instance_types: list[str] = Field(min_length=1)
    purchases: list[Purchase] = [Purchase.SPOT, Purchase.ON_DEMAND]


class Objective(Model):
    """Exactly one of the two: the metric that ranks the results."""

    minimize: str | None = None
    maximize: str | None = None


Axis = Annotated[Any, Field(description="a list of values, {range|linear|log: …} or a boolean's two values")]


class Sweep(Model):
    """One sweep: data × space, and how each training runs."""

    name: str
    data: Data = Data()
    train: Train
    space: dict[str, Axis] = {}
    where: Where
    objective: Objective | None = None
    runtime: float | str = Field(description="hours on one instance: a number, or an expression of parameters")
    timeout: str = "24h"
    retries: int = Field(default=0, ge=0, le=10)
    patience: str = "30m"
    folder: SkipJsonSchema[Path] = Field(default=Path(), exclude=True)
    """Where `source` is relative to. Not part of what was asked."""
