"""Instance preferences: an ordered list of types, of which the first that there is, is selected.

Source: API reference of InstancePreference and ResourceConfig.
"""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.localcloud.http.answers import AwsError
from orchestrator.localcloud.services.sagemaker import capacity
from orchestrator.localcloud.services.sagemaker.training import Training
from orchestrator.localcloud.services.sagemaker.wishes import Wish, check_preferences, wishes_of
from tests.localcloud.services.sagemaker.test_lifecycle import lifecycle_of_a_full_machine

TYPES = [{"InstanceType": "ml.c5.xlarge"}, {"InstanceType": "ml.c5.2xlarge"}]


def training(**config: Any) -> Training:
    request = {
        "StoppingCondition": {"MaxRuntimeInSeconds": 60},
        "OutputDataConfig": {"S3OutputPath": "s3://b/o"},
        "ResourceConfig": {"InstancePreferences": TYPES, "InstanceCount": 2} | config,
    }
    return Training("one", "arn:one", "us-east-1", request, created=0.0)


def test_a_count_is_said_once_or_with_every_type() -> None:
    each = [{**TYPES[0], "InstanceCount": 4}, {**TYPES[1], "InstanceCount": 2}]
    assert wishes_of({"InstancePreferences": TYPES, "InstanceCount": 2})[1] == Wish("ml.c5.2xlarge", 2)
    assert wishes_of({"InstancePreferences": each}) == [Wish("ml.c5.xlarge", 4), Wish("ml.c5.2xlarge", 2)]
    assert wishes_of({"InstanceType": "ml.c5.xlarge", "InstanceCount": 3}) == [Wish("ml.c5.xlarge", 3)]


@pytest.mark.parametrize(
    ("config", "spot"),
    [
        ({"InstancePreferences": TYPES, "InstanceCount": 1, "InstanceType": "ml.c5.xlarge"}, False),
        ({"InstancePreferences": TYPES, "InstanceCount": 1}, True),
        ({"InstancePreferences": TYPES}, False),
        ({"InstancePreferences": [TYPES[0], {**TYPES[1], "InstanceCount": 1}]}, False),
        ({"InstancePreferences": [TYPES[0], TYPES[0]], "InstanceCount": 1}, False),
    ],
)
def test_what_sagemaker_does_not_take_is_refused(config: dict[str, Any], spot: bool) -> None:
    with pytest.raises(AwsError):
        check_preferences(config, spot=spot)
    check_preferences({"InstancePreferences": TYPES, "InstanceCount": 1}, spot=False)


def test_the_first_type_that_there_is_is_selected_and_described_once_the_training_has_it() -> None:
    lifecycle, one = lifecycle_of_a_full_machine(), training()
    lifecycle.add_shortage(capacity.Shortage("us-east-1", "ml.c5.xlarge"), seconds=60)
    lifecycle.start(one)
    assert (one.status, one.instance_type) == ("InProgress", "ml.c5.2xlarge")
    assert "SelectedInstanceType" not in one.describe()["ResourceConfig"]
    one.hold(1.0)
    machines = one.describe()["ResourceConfig"]
    assert (machines["SelectedInstanceType"], machines["SelectedInstanceCount"]) == ("ml.c5.2xlarge", 2)


def test_where_there_is_none_of_them_it_is_as_with_one_type() -> None:
    lifecycle, one = lifecycle_of_a_full_machine(), training()
    lifecycle.add_shortage(capacity.Shortage("us-east-1"), seconds=60)
    lifecycle.start(one)
    assert (one.status, one.failure) == ("Failed", capacity.NO_CAPACITY)
