"""Channels are sent as the SageMaker SDK sends them, and what cannot be is told at its place in the file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from orchestrator.errors import NotFound, SpecError
from orchestrator.platforms.refusals import find_refusal
from orchestrator.platforms.sagemaker.asked.channels import look_for_data
from orchestrator.platforms.sagemaker.planning import SageMakerPlanning
from orchestrator.platforms.sagemaker.request import make_request
from orchestrator.spec.reading.reader import read
from tests.platforms.sweeps import SPOT, TASK, sweep, template

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.spec.sweep import Sweep

GOOD = """\
name: grid
train:
  entry_point: train.py
  source: code
  image: registry/steering:1
  data_channel: train
  channels: {validation: 's3://team-{region}/v/'}
where: {instance_types: [ml.g5.xlarge]}
data: {move_data: if_cheaper}
runtime: 0.5
platforms:
  sagemaker:
"""


def asking(train: dict[str, Any], channels: dict[str, Any] | None = None) -> Sweep:
    return sweep(train).model_copy(update={"platforms": {"sagemaker": {"channels": channels or {}}}})


def sent(train: dict[str, Any], channels: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    body = make_request(template(asking(train, channels)), TASK, SPOT, 1, 3000).body
    made: list[dict[str, Any]] = body["InputDataConfig"]
    return made


def test_the_dataset_is_where_the_place_is_and_fixed_channels_where_the_region_is() -> None:
    train = {"data_channel": "train", "channels": {"a": "s3://x-{region}/a", "b": {"eu-west-1": "s3://here/b"}}}
    made = sent(train, {"a": {"input_mode": "FastFile"}, "train": {"distribution": "ShardedByS3Key"}})
    assert [channel["ChannelName"] for channel in made] == ["train", "a", "b"]
    sources = [channel["DataSource"]["S3DataSource"] for channel in made]
    assert [source["S3Uri"] for source in sources] == [SPOT.s3_uri, "s3://x-eu-west-1/a", "s3://here/b"]
    assert [source["S3DataDistributionType"] for source in sources] == ["ShardedByS3Key", *["FullyReplicated"] * 2]
    assert [channel.get("InputMode") for channel in made] == [None, "FastFile", None]


def test_a_template_of_an_older_writer_makes_the_channel_that_it_made() -> None:
    older = template()
    del older.body["channels"]
    assert make_request(older, TASK, SPOT, 1, 3000) == make_request(template(), TASK, SPOT, 1, 3000)


def test_where_a_fixed_channel_has_no_data_nothing_is_planned() -> None:
    asked = asking({"channels": {"validation": {"us-east-1": "s3://there/v"}}})
    planning = SageMakerPlanning({})
    assert find_refusal(planning, SPOT.lane, asked) == "train.channels.validation has no data in eu-west-1"
    assert find_refusal(planning, replace(SPOT.lane, region="us-east-1"), asked) == ""
    with pytest.raises(SpecError, match="has no data in eu-west-1"):
        template(asked)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("{validatoin: {}}", "13:28: there is no channel 'validatoin' under train (did you mean 'validation'?)"),
        ("{train: {input: File}}", "13:24: unknown key 'input' (did you mean 'input_mode'?)"),
        ("{train: {input_mode: Fast}}", "13:36: platforms.sagemaker.channels.train.input_mode: unknown 'Fast'"),
        ("[train]", "13:15: platforms.sagemaker.channels: expected a mapping, got a list"),
        (
            "{train: {s3_data_type: AugmentedManifestFile, attribute_names: [a]}}",
            "13:38: an augmented manifest is read by Pipe only (add `input_mode: Pipe`)",
        ),
        ("{train: {attribute_names: [a]}}", "13:41: attribute_names are those of an augmented manifest"),
        ("{train: {compression: Gzip}}", "13:37: compression is for Pipe only"),
        ("{train: {s3_data_type: ManifestFile}}", "13:38: a manifest names objects where they lie"),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(tmp_path: Path, options: str, said: str) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "train.py").touch()
    file = tmp_path / "sweep.yaml"
    file.write_text(f"{GOOD}    channels: {options}\n")
    with pytest.raises(SpecError) as caught:
        read(file, SageMakerPlanning({}).check)
    assert str(caught.value).startswith(f"{file}:{said}")


def test_sagemaker_takes_twenty_channels() -> None:
    planning = SageMakerPlanning({})
    channels = {f"c{n}": "s3://team/c" for n in range(20)}
    assert [one.message for one in planning.check(sweep({"channels": channels}))] == ["21 channels"]
    del channels["c0"]
    assert list(planning.check(sweep({"channels": channels}))) == []


class Buckets:
    """Clients whose S3 has the buckets `here` and, in another Region, `there`. Data lies below `v/`."""

    def client(self, *_: str) -> Buckets:
        return self

    def head_bucket(self, Bucket: str) -> dict[str, str]:  # noqa: N803
        if Bucket == "nowhere":
            raise ClientError({"Error": {"Code": "404"}, "ResponseMetadata": {"HTTPStatusCode": 404}}, "HeadBucket")  # type: ignore[typeddict-item]
        return {"BucketRegion": "eu-west-1" if Bucket == "here" else "us-east-1"}

    def list_objects_v2(self, Prefix: str, **_: object) -> dict[str, Any]:  # noqa: N803
        return {"Contents": [{}]} if Prefix == "v/" else {}


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("s3://here/v/", ""),
        ("s3://here/w/", "train.channels.validation: there is nothing at s3://here/w/"),
        ("s3://there/v/", "eu-west-1: the bucket there lies in us-east-1"),
        ("s3://nowhere/v/", "could not look for the bucket nowhere"),
    ],
)
def test_data_that_is_not_in_the_region_is_found_out_before_anything_is_sent(uri: str, said: str) -> None:
    channels = template(asking({"channels": {"validation": uri}})).body["channels"]
    if not said:
        look_for_data(channels, "eu-west-1", Buckets())  # type: ignore[arg-type]
        return
    with pytest.raises(NotFound) as caught:
        look_for_data(channels, "eu-west-1", Buckets())  # type: ignore[arg-type]
    assert said in str(caught.value)
