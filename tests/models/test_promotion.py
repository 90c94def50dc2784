"""Promotions as version 1 has written them are read for ever."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator.models.promotion import Evaluation, Promotion, TrainedModel
from orchestrator.models.refusals import Refusal, Refusals
from tests.launcher.fakes import Bucket

GOLDEN = Path(__file__).parents[1] / "golden" / "v1" / "promotion.json"
MADE = Promotion(
    12,
    TrainedModel(
        workload="steering",
        run="nightly-2026-11-20",
        task=912,
        attempt=2,
        artifact="s3://team-eu-west-1/runs/nightly-2026-11-20/trainings/nightly-2026-11-20-912-2/output/model.tar.gz",
        region="eu-west-1",
        metric="gain",
        maximize=True,
        score=-0.25,
        key="c0ffee",
        dataset="paris@v1",
        data_mark="0123456789abcdef",
        evaluation=Evaluation("test", "s3://team-eu-west-1/test/", "fedcba"),
        code="c0de",
        image="registry/steering@sha256:00",
        plan="0123456789ab",
        lane="sagemaker/eu-west-1/ml.g5.xlarge/spot",
        usd=1.5,
        trained_at=1795003600.0,
        owner="ada",
        point={"lr": 0.1, "net": "wide", "warm": True},
        hyperparameters={"layers": [1, 2]},
        metrics={"gain": -0.25, "recall": 0.5},
    ),
    how="challenge",
    why="it is better: its gain is -0.25, the champion's -0.5",
    by="grace",
    at=1795003700.5,
    before=11,
    origin=12,
)


def body() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return found


def test_a_promotion_is_read_and_written_as_it_was() -> None:
    assert Promotion.from_json(body()) == MADE
    assert MADE.to_json() == body()


def test_what_a_later_version_adds_is_ignored_and_what_an_older_one_lacked_has_a_default() -> None:
    later = body() | {"mood": "good"}
    later["model"] |= {"mood": "good"}
    del later["model"]["evaluation"], later["origin"]
    assert Promotion.from_json(later).model.evaluation == Evaluation()


def test_a_refusal_is_read() -> None:
    bucket = Bucket()
    key = "workloads/steering/refusals/nightly-2026-11-20/912-11.json"
    bucket.put_once(key, GOLDEN.with_name("refusal.json").read_bytes())
    (found,) = Refusals(bucket, "steering").all(lambda error: pytest.fail(str(error)))  # type: ignore[arg-type]
    assert found == Refusal(
        MADE.model,
        "promote.floor",
        "its gain of -0.25 is below the floor of 0",
        "nightly-2026-11-20",
        1795003700.5,
        11,
        -0.5,
    )
