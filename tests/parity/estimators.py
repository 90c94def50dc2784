"""What the SageMaker SDK's Estimators send: run by the interpreter of its own environment, which has none of ours.

stdin: {"images": [questions to image_uris.retrieve], "trainings": [how an Estimator is made and fitted]}
stdout: {"images": [URIs], "trainings": [{"request": ...} or {"refused": why}]}
"""

from __future__ import annotations

import json
import logging
import os
import sys
from typing import Any

os.environ["SAGEMAKER_SUPPRESS_V2_WARNING"] = "1"
logging.disable(logging.CRITICAL)

import boto3  # noqa: E402
import jsonschema  # noqa: E402
from sagemaker import image_uris  # noqa: E402
from sagemaker.debugger import TensorBoardOutputConfig  # noqa: E402
from sagemaker.estimator import Estimator  # noqa: E402
from sagemaker.huggingface import HuggingFace  # noqa: E402
from sagemaker.inputs import FileSystemInput, ShuffleConfig, TrainingInput  # noqa: E402
from sagemaker.pytorch import PyTorch  # noqa: E402
from sagemaker.session import Session  # noqa: E402
from sagemaker.sklearn import SKLearn  # noqa: E402
from sagemaker.tensorflow import TensorFlow  # noqa: E402
from sagemaker.xgboost import XGBoost  # noqa: E402

ESTIMATORS = {
    "pytorch": PyTorch,
    "tensorflow": TensorFlow,
    "huggingface": HuggingFace,
    "sklearn": SKLearn,
    "xgboost": XGBoost,
    "estimator": Estimator,
}
NO_TELEMETRY = {"SchemaVersion": "1.0", "SageMaker": {"PythonSDK": {"Modules": {"TelemetryOptOut": True}}}}


class Recorder:
    """The only part of SageMaker's client that starting a training needs."""

    request: dict[str, Any]

    def create_training_job(self, **request: Any) -> dict[str, str]:
        self.request = request
        return {"TrainingJobArn": "arn:aws:sagemaker:::training-job/recorded"}


def channel(**arguments: Any) -> TrainingInput | FileSystemInput:
    if "file_system_id" in arguments:
        return FileSystemInput(**arguments)
    if "shuffle_config" in arguments:
        arguments["shuffle_config"] = ShuffleConfig(arguments["shuffle_config"])
    return TrainingInput(**arguments)


def sent(training: dict[str, Any]) -> dict[str, Any]:
    client = Recorder()
    account = boto3.Session("AKIA", "secret", region_name=training["region"])
    session = Session(account, sagemaker_client=client, sagemaker_config=NO_TELEMETRY)
    if "tensorboard_output_config" in training["arguments"]:
        given = training["arguments"]["tensorboard_output_config"]
        training["arguments"]["tensorboard_output_config"] = TensorBoardOutputConfig(s3_output_path=given)
    try:
        estimator = ESTIMATORS[training["estimator"]](**training["arguments"], sagemaker_session=session)
        inputs = {name: channel(**arguments) for name, arguments in training["inputs"].items()}
        estimator.fit(inputs, wait=False, job_name=training["name"])
    except ValueError as error:
        return {"refused": " ".join(str(error).split())}
    return {"request": client.request}


def main() -> None:
    # The SDK holds its configuration against a schema at every look at it, which takes half a second each time.
    jsonschema.validate = lambda *_: None
    asked = json.load(sys.stdin)
    answers = {
        "images": [image_uris.retrieve(**question) for question in asked["images"]],
        "trainings": [sent(training) for training in asked["trainings"]],
    }
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
