"""Paths of one's own: where models and checkpoints go, and what is left as files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from orchestrator.errors import NotFound
from orchestrator.platforms.sagemaker.asked.paths import Paths, look_for_buckets
from orchestrator.platforms.sagemaker.planning import SageMakerPlanning
from orchestrator.platforms.sagemaker.request import make_request
from tests.platforms.sagemaker.asked.test_channels import Buckets
from tests.platforms.sweeps import SPOT, TASK, sweep, template

SAVING = {"checkpoints": {"every": "5m"}}


def sent(train: dict[str, Any], **table: Any) -> dict[str, Any]:
    return make_request(template(sweep(train, platforms={"sagemaker": table})), TASK, SPOT, 3, 3000).body


def test_models_go_where_the_sweep_says_in_the_region() -> None:
    made = sent({}, output={"eu-west-1": "s3://models/steering"}, output_kms_key="alias/m", compress_output=False)
    assert made["OutputDataConfig"] == {
        "S3OutputPath": "s3://models/steering",
        "CompressionType": "NONE",
        "KmsKeyId": "alias/m",
    }


def test_checkpoints_of_each_task_of_each_run_have_a_folder_of_their_own() -> None:
    made = sent(SAVING, checkpoints="s3://saved-{region}/a/")
    assert made["CheckpointConfig"] == {"S3Uri": "s3://saved-eu-west-1/a/nightly/912"}


def test_a_script_may_save_where_it_likes_and_ours_is_told() -> None:
    made = sent({"checkpoints": {"every": "5m", "folder": "/opt/ml/saved"}})
    assert made["CheckpointConfig"]["LocalPath"] == "/opt/ml/saved"
    assert made["CheckpointConfig"]["S3Uri"] == "s3://team-eu-west-1/runs/nightly/checkpoints/912"
    assert made["Environment"] == {"SWEEP_CHECKPOINT_EVERY_S": "300", "SWEEP_CHECKPOINT_FOLDER": "/opt/ml/saved"}


def test_a_template_of_an_older_writer_keeps_its_checkpoints_where_they_were() -> None:
    older = template(sweep(SAVING))
    del older.body["checkpoints"]
    assert make_request(older, TASK, SPOT, 1, 3000) == make_request(template(sweep(SAVING)), TASK, SPOT, 1, 3000)


def test_a_region_without_a_prefix_is_left_out() -> None:
    planning, there = SageMakerPlanning({}), replace(SPOT.lane, region="us-east-1")
    for name in ("output", "checkpoints"):
        asked = sweep(SAVING, platforms={"sagemaker": {name: {"eu-west-1": "s3://here/a"}}})
        assert planning.excludes(asked, SPOT.lane) == ""
        assert planning.excludes(asked, there) == f"platforms.sagemaker.{name} has no prefix in us-east-1"


def test_a_prefix_for_checkpoints_that_nobody_saves_is_a_mistake() -> None:
    (complaint,) = SageMakerPlanning({}).check(sweep(platforms={"sagemaker": {"checkpoints": "s3://saved/a"}}))
    assert complaint.message == "nothing is saved that could go there"


@pytest.mark.parametrize("name", ["output", "checkpoints"])
def test_a_bucket_elsewhere_is_found_out_before_anything_is_sent(name: str) -> None:
    look_for_buckets(Paths.model_validate({name: "s3://here/a"}), "eu-west-1", Buckets())  # type: ignore[arg-type]
    with pytest.raises(NotFound, match="the bucket there lies in us-east-1"):
        look_for_buckets(Paths.model_validate({name: "s3://there/a"}), "eu-west-1", Buckets())  # type: ignore[arg-type]
