"""Placement scores are asked for where they are named, a question for each family, and AWS's limit of a day is told."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest
from botocore.exceptions import ClientError

from orchestrator.errors import QuotaExceeded
from orchestrator.feeds.every import every_feed
from orchestrator.feeds.refresh import choose_feeds
from orchestrator.platforms.sagemaker.feeds import placement_scores

NOW = datetime(2026, 11, 22, tzinfo=timezone.utc)


class Ec2:
    """Stands for `Clients`: gives families scores, or refuses with these codes."""

    def __init__(self, scores: dict[str, int], codes: dict[str, str] | None = None) -> None:
        self.scores, self.codes = scores, codes or {}
        self.asked: list[dict[str, Any]] = []

    def client(self, *_: str) -> Ec2:
        return self

    def get_spot_placement_scores(self, **asked: Any) -> dict[str, Any]:
        self.asked.append(asked)
        family = asked["InstanceTypes"][0].partition(".")[0]
        if code := self.codes.get(family):
            raise ClientError({"Error": {"Code": code, "Message": f"{code} of {family}"}}, "GetSpotPlacementScores")
        score = self.scores.get(family)
        return {"SpotPlacementScores": [{"Region": "eu-west-1", "Score": score}] if score else []}


def read(ec2: Ec2) -> tuple[dict[str, Any], tuple[str, ...]]:
    clients: Any = ec2
    reading = placement_scores.read(clients, "eu-west-1", NOW)
    return {str(row["family"]): row["score"] for row in reading.rows}, reading.left_out


def test_each_family_of_three_types_with_gpus_or_more_is_one_question() -> None:
    ec2 = Ec2({"g5": 7, "g6": 3})
    assert read(ec2) == ({"g5": 7, "g6": 3}, ())
    assert all(len(asked["InstanceTypes"]) >= 3 for asked in ec2.asked)
    assert len({tuple(asked["InstanceTypes"]) for asked in ec2.asked}) == len(ec2.asked)
    assert {asked["TargetCapacity"] for asked in ec2.asked} == {1}


def test_a_family_that_the_region_does_not_have_is_left_out_and_told() -> None:
    scores, left_out = read(Ec2({"g5": 7}, {"g7e": "InvalidParameterValue"}))
    assert scores == {"g5": 7}
    assert len(left_out) == 1
    assert left_out[0].startswith("g7e: ")


def test_that_aws_answers_no_more_today_is_told_with_what_to_do() -> None:
    with pytest.raises(QuotaExceeded) as told:
        read(Ec2({"g5": 7}, {"g5": "MaxConfigLimitExceeded"}))
    assert str(told.value) == (
        "eu-west-1: AWS tells no more placement scores today (it answers only so many different questions a day: ask "
        "tomorrow, or of fewer Regions)"
    )


def test_they_are_read_only_if_they_are_named() -> None:
    assert "placement-scores" not in [feed.name for feed in choose_feeds(every_feed(), ())]
    assert [feed.name for feed in choose_feeds(every_feed(), ["placement-scores"])] == ["placement-scores"]
