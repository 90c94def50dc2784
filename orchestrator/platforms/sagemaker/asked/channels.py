"""Channels: how SageMaker brings the dataset, and what is the same for all tasks, into a training's folders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, model_validator

from orchestrator.aws.s3 import S3
from orchestrator.errors import NotFound, SpecError, did_you_mean
from orchestrator.platforms.base import Complaint
from orchestrator.spec.by_region import in_region
from orchestrator.spec.model import Model, wrong
from orchestrator.training.starter.machine import CODE
from orchestrator.wire.names import S3Uri

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from orchestrator.aws.session import Clients
    from orchestrator.spec.sweep import Sweep
    from orchestrator.spec.train.train import Train

AT = ("platforms", "sagemaker", "channels")
MAX_CHANNELS = 20


class ChannelOptions(Model):
    """The way in which one channel comes to the training. The words are those of the SageMaker SDK's TrainingInput."""

    input_mode: Literal["File", "FastFile", "Pipe"] | None = Field(
        default=None, description="File copies all of it first; FastFile reads from S3 as the script reads"
    )
    distribution: Literal["FullyReplicated", "ShardedByS3Key"] = Field(
        default="FullyReplicated", description="whether each instance gets all objects, or its share of them"
    )
    s3_data_type: Literal["S3Prefix", "ManifestFile", "AugmentedManifestFile"] = Field(
        default="S3Prefix", description="what the URI is: all below a prefix, or an object that lists the data"
    )
    attribute_names: Annotated[list[str], Field(max_length=16)] = Field(
        default=[], description="of an AugmentedManifestFile: the attributes to read"
    )
    content_type: Annotated[str, Field(min_length=1, max_length=256)] | None = Field(
        default=None, description="MIME type of the data, told to the script"
    )
    compression: Literal["Gzip"] | None = Field(default=None, description="of data that Pipe is to unpack")
    record_wrapping: Literal["RecordIO"] | None = Field(default=None, description="how Pipe is to wrap each object")
    shuffle_seed: int | None = Field(default=None, description="shuffles the objects; a number makes it repeatable")

    @model_validator(mode="after")
    def _fits_together(self) -> ChannelOptions:
        augmented = self.s3_data_type == "AugmentedManifestFile"
        if augmented and self.input_mode != "Pipe":
            raise wrong(
                "an augmented manifest is read by Pipe only", hint="add `input_mode: Pipe`", at=("s3_data_type",)
            )
        if augmented != bool(self.attribute_names):
            raise wrong(
                "attribute_names are those of an augmented manifest, which needs some",
                hint="set both attribute_names and `s3_data_type: AugmentedManifestFile`, or neither",
                at=("attribute_names",) if self.attribute_names else ("s3_data_type",),
            )
        for name in ("compression", "record_wrapping"):
            if getattr(self, name) and self.input_mode != "Pipe":
                raise wrong(f"{name} is for Pipe only", hint="leave it out, or add `input_mode: Pipe`", at=(name,))
        return self


def check_channels(sweep: Sweep, options: Mapping[str, ChannelOptions], further: Sequence[str]) -> Iterator[Complaint]:
    """Yield a complaint for options of channels that there are not, for too many channels, and for a moved manifest.

    `further` are the channels that are not `train`'s.
    """
    names = sweep.train.all_channels
    for name in options:
        if name not in names:
            hint = did_you_mean(name, list(names))
            yield Complaint(f"there is no channel {name!r} under train", hint, (*AT, name))
    total = len(names) + len(further)
    if total > MAX_CHANNELS:
        yield Complaint(f"{total} channels", f"SageMaker takes {MAX_CHANNELS}", ("train", "channels"))
    if CODE in names and CODE in further:
        at = ("train", "channels", CODE) if CODE in sweep.train.channels else ("train", "data_channel")
        yield Complaint(f"under network isolation the channel {CODE} brings the script", "name yours otherwise", at)
    of_data = options.get(sweep.train.data_channel)
    if of_data and of_data.s3_data_type != "S3Prefix" and sweep.data.move_data != "never":
        yield Complaint(
            "a manifest names objects where they lie: a copy of it does not move them",
            "set data.move_data to never",
            (*AT, sweep.train.data_channel, "s3_data_type"),
        )


def make_channels(train: Train, options: Mapping[str, ChannelOptions], region: str) -> list[dict[str, Any]]:
    """Return the channels as CreateTrainingJob takes them, the dataset's first: its URI is the place's own.

    Raise SpecError where a fixed channel has no data in the Region.
    """
    missing = train.lacks_in(region)
    if missing:
        raise SpecError(missing, where=f"train.channels in {region}")
    plain = ChannelOptions()
    return [
        _channel(train.data_channel, "", options.get(train.data_channel, plain)),
        *(_channel(name, in_region(uri, region), options.get(name, plain)) for name, uri in train.channels.items()),
    ]


def _channel(name: str, s3_uri: str, options: ChannelOptions) -> dict[str, Any]:
    source: dict[str, Any] = {
        "S3DataType": options.s3_data_type,
        "S3Uri": s3_uri,
        "S3DataDistributionType": options.distribution,
    }
    if options.attribute_names:
        source["AttributeNames"] = options.attribute_names
    channel: dict[str, Any] = {"ChannelName": name, "DataSource": {"S3DataSource": source}}
    further = {
        "ContentType": options.content_type,
        "CompressionType": options.compression,
        "RecordWrapperType": options.record_wrapping,
        "InputMode": options.input_mode,
        "ShuffleConfig": None if options.shuffle_seed is None else {"Seed": options.shuffle_seed},
    }
    return channel | {key: value for key, value in further.items() if value is not None}


def look_for_data(channels: list[dict[str, Any]], region: str, clients: Clients) -> None:
    """Raise NotFound where a fixed channel has no objects, or has them in another Region: trainings would not start."""
    for channel in channels[1:]:
        source = channel["DataSource"].get("S3DataSource")
        if source is None:
            continue
        uri = S3Uri.parse(source["S3Uri"])
        bucket = S3(clients, region, uri.bucket)
        where = f"train.channels.{channel['ChannelName']}"
        bucket.check_region()
        if not bucket.has_any(uri.key):
            raise NotFound(f"there is nothing at {uri}", where=where, hint="put the data there, or name where it lies")
