"""What differs by Region is one text with {region} in it, or a text for each."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from orchestrator.spec.by_region import S3ByRegion, in_region, region_name


class Part(BaseModel):
    data: S3ByRegion


@pytest.mark.parametrize(
    ("given", "there", "elsewhere"),
    [
        ("s3://team-{region}/a/{region}/", "s3://team-eu-west-1/a/eu-west-1/", "s3://team-us-east-1/a/us-east-1/"),
        ("s3://everywhere/a", "s3://everywhere/a", "s3://everywhere/a"),
        ({"eu-west-1": "s3://here/a"}, "s3://here/a", ""),
        ({"eu-west-1": "s3://team-{region}"}, "s3://team-eu-west-1", ""),
    ],
)
def test_a_region_has_its_own_text(given: Any, there: str, elsewhere: str) -> None:
    data = Part(data=given).data
    assert (in_region(data, "eu-west-1"), in_region(data, "us-east-1")) == (there, elsewhere)


@pytest.mark.parametrize(
    ("given", "said", "at"),
    [
        (3, "expected text, got 3", ()),
        ({}, "for no Region at all", ()),
        ({"eu-west-1": ["x"]}, "expected text, got a list", ("eu-west-1",)),
        ({"europe": "s3://here/a"}, "'europe' is no Region", ("europe",)),
        ({"eu-wst-1": "s3://here/a"}, "'eu-wst-1' is no Region", ("eu-wst-1",)),
        ({1: "s3://here/a"}, "1 is no Region", (1,)),
        ("s3://team-{reigon}/", "{reigon} has no meaning here", ()),
        ("team/a", "not an S3 URI: 'team/a'", ()),
        ("s3:///a", "not an S3 URI", ()),
        (f"s3://team/{'x' * 1024}", "not an S3 URI", ()),
        ({"eu-west-1": "https://team/a"}, "not an S3 URI", ("eu-west-1",)),
    ],
)
def test_anything_else_is_one_clear_line_with_its_place(given: Any, said: str, at: tuple[str, ...]) -> None:
    with pytest.raises(ValidationError) as caught:
        Part(data=given)
    (error,) = caught.value.errors()
    assert said in error["msg"]
    assert error["ctx"]["at"] == at


def test_a_slip_in_a_regions_name_is_answered_with_the_name() -> None:
    with pytest.raises(ValidationError) as caught:
        Part(data={"eu-wst-1": "s3://here/a"})
    assert caught.value.errors()[0]["ctx"]["hint"] == "did you mean 'eu-west-1'?"


def test_every_region_of_aws_is_one() -> None:
    partitions = json.loads(resources.files("botocore").joinpath("data/partitions.json").read_text())["partitions"]
    names = [name for partition in partitions for name in partition["regions"] if not name.endswith("-global")]
    assert len(names) > 40
    assert [region_name(name) for name in names] == names
