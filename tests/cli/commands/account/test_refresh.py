"""`sweep catalog refresh` against a whole local cloud."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.calls import Sweep


@pytest.fixture
def feeds(sweep: Sweep, cloud_environment: dict[str, str]) -> Sweep:  # noqa: ARG001
    return sweep


def test_an_empty_catalog_is_filled_and_a_second_time_nothing_is_new(feeds: Sweep) -> None:
    brought = json.loads(feeds("catalog", "refresh", "--region", "eu-west-1", "--json").out)
    assert {one["feed"] for one in brought} == {one["feed"] for one in listed(feeds)} - {"placement-scores"}
    promised = {"training-plans", "savings-plans", "ec2-savings-plans", "capacity-reservations"}  # a newcomer has none
    assert all((one["added"] > 0) is (one["feed"] not in promised) and one["error"] is None for one in brought)
    every = json.loads(feeds("catalog", "refresh", "--json").out)
    there = {(one["feed"], one["region"]) for one in brought}
    again = [one for one in every if (one["feed"], one["region"]) in there]
    at_home = [one for one in every if one not in again]
    assert [one["feed"] for one in at_home] == ["storage-prices"]  # the control Region keeps data, too
    assert [(one["added"], one["unchanged"]) for one in again] == [(0, one["added"]) for one in brought]
    assert feeds("catalog", "check").code == 0


def test_a_region_where_aws_sells_nothing_is_told_and_the_others_land(feeds: Sweep) -> None:
    ended = feeds("catalog", "refresh", "sagemaker-prices", "--region", "eu-west-1", "--region", "me-south-1")
    assert ended.code == 5
    assert [line.split()[-1] for line in ended.out.splitlines()] == ["STATE", "ok", "failed"]
    assert "warning: sagemaker-prices: me-south-1: AWS knows nothing of it there" in ended.err


@pytest.mark.parametrize("name", ["mars-1", "eu-wst-1", "EU-WEST-1", "eu-west-1a", ""])
def test_what_is_no_region_is_doubted_before_credentials_are_asked_for(
    sweep: Sweep, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    ended = sweep("catalog", "refresh", "--region", name)
    assert (ended.code, f"there is no Region {name!r}" in ended.err) == (2, True)


def test_without_a_region_one_must_be_named(feeds: Sweep) -> None:
    ended = feeds("catalog", "refresh")
    assert ended.code == 2
    assert "the catalog knows no Region yet (name some, such as --region us-east-1" in ended.err


def test_an_unknown_feed_is_told_with_the_nearest(feeds: Sweep) -> None:
    ended = feeds("catalog", "refresh", "ec2-spot")
    assert ended.code == 2
    assert "there is no feed 'ec2-spot' (did you mean 'ec2-spot-prices'?)" in ended.err


def test_who_knows_only_where_the_data_lies_can_plan_by_what_aws_tells(feeds: Sweep) -> None:
    feeds("init")
    feeds("catalog", "load", *(f"catalog/{kind}.csv" for kind in ("campaigns", "datasets", "replicas")))
    assert feeds("plan", "sweep.yaml").code != 0
    ended = feeds("plan", "sweep.yaml", "--refresh")
    assert (ended.code, "last seen" in ended.err) == (0, False)


def test_a_plan_is_made_of_old_facts_where_aws_cannot_be_asked(feeds: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    feeds("init")
    feeds("catalog", "load", "catalog")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr("orchestrator.aws.session.TRIES", 1)
    ended = feeds("plan", "sweep.yaml", "--refresh")
    assert ended.code == 0
    assert "warning: ec2-prices eu-west-1: " in ended.err
    assert "warning: 2 spot prices last seen" in ended.err


def listed(sweep: Sweep) -> list[dict[str, str]]:
    rows: list[dict[str, str]] = json.loads(sweep("catalog", "refresh", "--list", "--json").out)
    return rows


def test_where_every_feed_fails_it_ends_as_where_one_does(feeds: Sweep) -> None:
    ended = feeds("catalog", "refresh", "sagemaker-prices", "--region", "me-south-1")
    assert (ended.code, "error: 1 feed of 1 could not be read (what was known before stays)" in ended.err) == (5, True)
    assert "warning: sagemaker-prices: me-south-1: AWS knows nothing of it there" in ended.err
