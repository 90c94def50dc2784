"""Buckets that trainings may not read are named as the settings would name them."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.infra.data_buckets import unnamed_buckets
from orchestrator.settings.settings import Settings

TEAM = {"team-eu-west-1": "eu-west-1", "team-us-east-1": "us-east-1", "drives": "us-east-1"}


@pytest.mark.parametrize(
    ("infra", "region_bucket", "unnamed"),
    [
        ({}, "", []),
        ({"regions": ["eu-west-1"]}, "", ["team-{region}", "drives"]),
        ({"data_buckets": ["team-{region}"]}, "", ["drives"]),
        ({"data_buckets": ["team-{region}", "drives"]}, "", []),
        ({"data_buckets": ["drives"]}, "team-{region}", []),
        ({"data_buckets": ["team-eu-west-1"]}, "drives-{region}", ["team-{region}", "drives"]),
    ],
)
def test_buckets_that_the_settings_do_not_name_are_told_once_for_all_regions(
    infra: dict[str, Any], region_bucket: str, unnamed: list[str]
) -> None:
    assert unnamed_buckets(Settings(infra_table=infra, region_bucket=region_bucket or None), TEAM) == unnamed
