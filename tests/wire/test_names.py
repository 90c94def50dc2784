"""Names are deterministic, valid where they are used, and never two things at once."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.wire.names import (
    RunKeys,
    S3Uri,
    array_name,
    canonical,
    digest,
    index_key,
    resource_name,
    submission_of_manifest,
    training_name,
    valid_run_name,
)
from orchestrator.wire.task import Quota

TRAINING = re.compile(r"[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}")
"""SageMaker's rule for a training's name."""
RUN_NAMES = st.from_regex(r"\A[a-z0-9](-?[a-z0-9]){0,39}\Z").filter(lambda name: len(name) <= 40)


@given(RUN_NAMES, st.integers(0, 10**9), st.integers(1, 9999))
def test_a_run_s_name_makes_valid_names_of_trainings_and_arrays(run: str, task: int, attempt: int) -> None:
    assert valid_run_name(run)
    assert TRAINING.fullmatch(training_name(run, task, attempt))
    assert len(array_name(run, 999, 999)) <= 128


@pytest.mark.parametrize("name", ["", "A", "a_b", "-a", "a-", "a--b", "a" * 41, "a/b", "a\n", "ä"])
def test_a_name_that_would_not_fit_is_refused(name: str) -> None:
    assert not valid_run_name(name)


@given(st.lists(st.tuples(RUN_NAMES, st.integers(0, 99), st.integers(1, 99)), unique=True, min_size=2, max_size=20))
def test_two_attempts_never_share_a_key_or_a_training_s_name(attempts: list[tuple[str, int, int]]) -> None:
    assert len({RunKeys(run).attempt(task, number) for run, task, number in attempts}) == len(attempts)
    assert len({training_name(run, task, number) for run, task, number in attempts}) == len(attempts)


@given(RUN_NAMES, RUN_NAMES)
def test_no_run_s_keys_lie_among_another_s(one: str, other: str) -> None:
    assert RunKeys(one).anchor.startswith(RunKeys(other).prefix) == (one == other)


def test_attempts_list_in_their_order() -> None:
    keys = [RunKeys("r").attempt(3, number) for number in (1, 2, 10, 100)]
    assert keys == sorted(keys)


def test_a_manifest_s_key_tells_its_run_and_submission() -> None:
    key = RunKeys("nightly").manifest(2, 1)
    assert submission_of_manifest(key) == ("nightly", 2)
    assert index_key(key) == key.replace(".manifest", ".index")
    assert submission_of_manifest("jobs/array.csv") is None


@given(st.text("abc/.-", min_size=1), st.text())
def test_an_s3_uri_is_printed_as_it_was(bucket: str, key: str) -> None:
    uri = f"s3://{bucket.replace('/', 'x')}/{key}"
    assert str(S3Uri.parse(uri)) == uri


@pytest.mark.parametrize("text", ["", "bucket/key", "s3://", "s3:///key", "http://bucket/key"])
def test_what_is_no_s3_uri_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not an S3 URI"):
        S3Uri.parse(text)


def test_equal_values_have_one_spelling_and_one_digest() -> None:
    assert canonical({"b": 1, "a": [True, None, "ü"]}) == '{"a":[true,null,"\\u00fc"],"b":1}'
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest(b"bytes", length=6) == digest(b"bytes")[:6]


@given(st.lists(st.one_of(st.integers(-3, 3), st.booleans(), st.sampled_from([0.0, 1.0, "1", "", None])), max_size=4))
def test_values_that_differ_in_kind_differ_in_digest(values: list[object]) -> None:
    assert digest(values) != digest([*values, 0])
    assert digest(True) != digest(1) != digest(1.0)


def test_nan_has_no_spelling() -> None:
    with pytest.raises(ValueError, match="Out of range"):
        canonical(float("nan"))


@pytest.mark.parametrize(
    ("quota", "name"),
    [
        ("ml.g5.xlarge/spot", "sweep-sagemaker-us-east-1-ml-g5-xlarge-spot"),
        ("*/spot", "sweep-sagemaker-us-east-1-all-spot"),
        ("*/*", "sweep-sagemaker-us-east-1-all-all"),
        ("L-3819A6DF", "sweep-sagemaker-us-east-1-L-3819A6DF"),
        ("arn:aws:sagemaker:us-east-1:1:training-plan/p", "sweep-sagemaker-us-east-1-3f61bb190f38"),
    ],
)
def test_a_quota_s_resource_has_a_name_that_batch_takes(quota: str, name: str) -> None:
    made = resource_name(Quota("sagemaker", "us-east-1", quota))
    assert re.fullmatch(r"[\w-]{1,128}", made, re.ASCII)
    assert made == name
