"""SageMaker's quotas by the names that AWS's console shows."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

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
