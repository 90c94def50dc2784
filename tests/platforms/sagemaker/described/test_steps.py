"""Where a training has spent its time is read from SageMaker's own transitions."""

from __future__ import annotations

from datetime import datetime, timezone

from orchestrator.platforms.lives import Step, StepTaken
from orchestrator.platforms.sagemaker.described.steps import read_steps
from orchestrator.platforms.sagemaker.operating import SageMakerOperating
from orchestrator.wire.task import Lane, Purchase
from orchestrator.wire.template import Template


def at(second: float) -> datetime:
    return datetime.fromtimestamp(second, timezone.utc)


def test_each_status_belongs_to_a_step_and_an_ending_to_none() -> None:
    transitions = [
        {
            "Status": "Starting",
            "StartTime": at(0),
            "EndTime": at(5),
            "StatusMessage": "Launching\n requested  machines",
        },
        {"Status": "LaunchingMLInstances", "StartTime": at(5), "EndTime": at(60)},
        {"Status": "Downloading", "StartTime": at(60), "EndTime": at(90)},
        {"Status": "Training", "StartTime": at(90), "EndTime": at(200)},
        {"Status": "Uploading", "StartTime": at(200), "EndTime": at(210)},
        {"Status": "Completed", "StartTime": at(210), "EndTime": at(210)},
    ]
    assert read_steps(transitions) == [
        StepTaken(Step.QUEUE, 0, 5, "Launching requested machines"),
        StepTaken(Step.MACHINES, 5, 60),
        StepTaken(Step.DOWNLOAD, 60, 90),
        StepTaken(Step.TRAINING, 90, 200),
        StepTaken(Step.UPLOAD, 200, 210),
    ]


def test_a_step_that_goes_on_has_no_end_and_a_status_of_next_year_is_left_out() -> None:
    transitions = [{"Status": "Defrosting", "StartTime": at(0)}, {"Status": "Training", "StartTime": at(9)}]
    assert read_steps(transitions) == [StepTaken(Step.TRAINING, 9, None)]


def test_the_image_is_the_one_that_was_pinned_for_the_instance_type() -> None:
    usual = {"AlgorithmSpecification": {"TrainingImage": "usual@sha256:0"}}
    body = {"request": usual, "images": {"ml.trn1.2xlarge": "x@sha256:1"}}
    template = Template("sagemaker", "eu-west-1", "nightly", "ada", body, "s3://out")
    lanes = [Lane("sagemaker", "eu-west-1", kind, Purchase.SPOT) for kind in ("ml.g5.xlarge", "ml.trn1.2xlarge")]
    assert [SageMakerOperating().image(template, lane) for lane in lanes] == ["usual@sha256:0", "x@sha256:1"]
