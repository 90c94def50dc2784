"""SageMaker's quotas by the names that AWS's console shows, and what the account's trainings use of them."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from orchestrator.platforms.sagemaker.feeds import training_use
from orchestrator.platforms.sagemaker.feeds.training_quotas import quota_name, read
from tests.platforms.feeds.answers import Answers

NOW = datetime(2026, 11, 22, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("aws", "ours"),
    [
        ("ml.g5.xlarge for training job usage", "ml.g5.xlarge/on_demand"),
        ("ml.g5.xlarge for spot training job usage", "ml.g5.xlarge/spot"),
        ("Number of instances across all training jobs", "*/on_demand"),
        ("Number of instances across all spot training jobs", "*/spot"),
        ("ml.g5.xlarge for training warm pool usage", None),
        ("ml.g5.xlarge for endpoint usage", None),
        ("Longest run time for a training job", None),
    ],
)
def test_a_quota_of_trainings_is_known_by_its_name(aws: str, ours: str | None) -> None:
    assert quota_name(aws) == ours


def test_quotas_of_all_pages_become_rows() -> None:
    def page(name: str, value: float) -> dict[str, object]:
        return {"Quotas": [{"QuotaName": name, "QuotaCode": "L-1", "Value": value}]}

    pages = [page("ml.g5.xlarge for training job usage", 8.0), page("ml.g5.xlarge for endpoint usage", 2.0)]
    reading = read(Answers(*pages, page("ml.p5.48xlarge for spot training job usage", 0.0)), "us-east-1", NOW)  # type: ignore[arg-type]
    assert [(row["quota"], row["units"]) for row in reading.rows] == [
        ("ml.g5.xlarge/on_demand", 8),
        ("ml.p5.48xlarge/spot", 0),
    ]


def test_what_asks_aws_to_raise_a_quota_comes_with_it() -> None:
    quotas: list[dict[str, Any]] = [
        {"QuotaName": "ml.g5.xlarge for training job usage", "QuotaCode": "L-A", "Value": 8.0, "Adjustable": True},
        {"QuotaName": "ml.g6.xlarge for training job usage", "QuotaCode": "L-B", "Value": 8.0, "Adjustable": False},
    ]
    reading = read(Answers({"Quotas": quotas}), "us-east-1", NOW)  # type: ignore[arg-type]
    assert [row["code"] for row in reading.rows] == ["sagemaker/L-A", None]


def used(*trainings: dict[str, Any]) -> dict[str, object]:
    """What `sagemaker-use` tells of these trainings, which all are in progress: none is stopping."""

    class Search(Answers):
        def paginate(self, **arguments: Any) -> Any:
            (wanted,) = arguments["SearchExpression"]["Filters"]
            assert (arguments["Resource"], wanted["Name"]) == ("TrainingJob", "TrainingJobStatus")
            return super().paginate(**arguments) if wanted["Value"] == "InProgress" else iter([{"Results": []}])

    pages = [{"Results": [{"TrainingJob": one}]} for one in trainings]
    reading = training_use.read(Search(*pages), "us-east-1", NOW)  # type: ignore[arg-type]
    return {str(row["quota"]): row["used"] for row in reading.rows}


def training(instances: int, *, spot: bool = False, **resources: Any) -> dict[str, Any]:
    of_type = {"InstanceType": "ml.g5.xlarge", "InstanceCount": instances}
    return {"ResourceConfig": of_type | resources, "EnableManagedSpotTraining": spot}


def test_trainings_count_by_type_by_purchase_and_in_all() -> None:
    assert used(training(2), training(1), training(4, spot=True)) == {
        "*/*": 7,
        "*/on_demand": 3,
        "*/spot": 4,
        "ml.g5.xlarge/on_demand": 3,
        "ml.g5.xlarge/spot": 4,
    }


def test_where_nothing_runs_nothing_is_used() -> None:
    assert used() == {"*/*": 0}


def test_instances_of_a_training_plan_count_under_no_quota() -> None:
    plan = "arn:aws:sagemaker:us-east-1:111122223333:training-plan/november"
    assert used(training(8, TrainingPlanArn=plan)) == {"*/*": 0}


def group(instance_type: str, instances: int) -> dict[str, Any]:
    return {"InstanceType": instance_type, "InstanceCount": instances}


def test_each_group_of_a_mixed_training_counts_by_its_type() -> None:
    groups = [
        {"InstanceType": "ml.g5.xlarge", "InstanceCount": 2},
        {"InstanceType": "ml.c5.xlarge", "InstanceCount": 3},
    ]
    found = used({"ResourceConfig": {"InstanceGroups": groups}})
    assert (found["ml.g5.xlarge/on_demand"], found["ml.c5.xlarge/on_demand"], found["*/*"]) == (2, 3, 5)


def test_what_was_selected_counts_and_not_what_was_wished_for() -> None:
    wishes = [
        {"InstanceType": "ml.p4d.24xlarge", "InstanceCount": 1},
        {"InstanceType": "ml.g5.xlarge", "InstanceCount": 2},
    ]
    selected = {"SelectedInstanceType": "ml.g5.xlarge", "SelectedInstanceCount": 2}
    found = used({"ResourceConfig": {"InstancePreferences": wishes, **selected}})
    assert found == {"*/*": 2, "*/on_demand": 2, "ml.g5.xlarge/on_demand": 2}
