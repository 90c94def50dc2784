"""Lanes and templates come back as they were."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.wire.task import Lane, Place, Purchase
from orchestrator.wire.template import Template

PART = st.from_regex(r"\A[a-z0-9.-]+\Z")
TYPE = st.from_regex(r"\A[a-z0-9./ -]+\Z")


@given(st.builds(Lane, PART, PART, TYPE, st.sampled_from(Purchase)))
def test_a_lane_is_read_as_it_is_printed(lane: Lane) -> None:
    assert Lane.parse(str(lane)) == lane


@pytest.mark.parametrize("text", ["", "a/b/c", "a/b/c/cheap", "a/b/spot", "a/b/c/spot/e"])
def test_what_is_no_lane_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the text is all there is to say
        Lane.parse(text)


@pytest.mark.parametrize("arn", ["", "arn:aws:sagemaker:eu-west-1:123456789012:training-plan/nightly"])
def test_a_place_comes_back_with_the_training_plan_it_draws_on_and_says_nothing_where_there_is_none(arn: str) -> None:
    place = Place(Lane("sagemaker", "eu-west-1", "ml.p5.48xlarge", Purchase.COMMITTED), "s3://data/", 1.5, arn, 2)
    body = json.loads(json.dumps(place.to_json()))
    assert Place.from_json(body) == place
    assert ("site" in body) == bool(arn)


def test_a_template_comes_back_without_what_a_newer_writer_added() -> None:
    template = Template("sagemaker", "eu-west-1", "run", "me", {"request": {"RoleArn": "arn"}}, "s3://out/", True, 5.0)
    body = json.loads(json.dumps(template.to_json() | {"new": 1}))
    assert Template.from_json(body) == template
