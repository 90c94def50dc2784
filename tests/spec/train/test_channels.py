"""The names of channels are folders and variables, and each is there once."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from tests.fixtures.sweeps import make_sweep


def test_a_training_has_its_dataset_and_what_is_fixed() -> None:
    train = make_sweep(train__channels={"validation": "s3://team/v/"}).train
    assert train.all_channels == ("training", "validation")
    assert train.lacks_in("eu-west-1") == ""


def test_a_fixed_channel_may_be_in_some_regions_only() -> None:
    train = make_sweep(train__channels={"validation": {"eu-west-1": "s3://team/v/"}}).train
    assert train.lacks_in("eu-west-1") == ""
    assert train.lacks_in("us-east-1") == "train.channels.validation has no data in us-east-1"


@pytest.mark.parametrize(
    ("train", "said"),
    [
        ({"data_channel": "a b"}, "'a b' cannot name a channel"),
        ({"data_channel": ".."}, "'..' cannot name a channel"),
        ({"channels": {"x" * 65: "s3://team/v"}}, "cannot name a channel"),
        ({"channels": {"training": "s3://team/v"}}, "training is the dataset's own channel"),
        ({"data_channel": "Train", "channels": {"train": "s3://team/v"}}, "train and Train have one variable"),
        ({"channels": {"a": "s3://team/v", "A": "s3://team/v"}}, "a and A have one variable"),
    ],
)
def test_a_name_that_cannot_be_is_refused(train: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        make_sweep(**{f"train__{key}": value for key, value in train.items()})
    assert said in str(caught.value)
