"""Trains as every tutorial of the SageMaker SDK v2 does, and attaches to the training again: BUCKET NAME."""

from __future__ import annotations

import json
import logging
import os
import sys

os.environ["SAGEMAKER_SUPPRESS_V2_WARNING"] = "1"
logging.disable(logging.CRITICAL)

import boto3  # noqa: E402
from sagemaker.pytorch import PyTorch  # noqa: E402
from sagemaker.session import Session  # noqa: E402

NO_TELEMETRY = {"SchemaVersion": "1.0", "SageMaker": {"PythonSDK": {"Modules": {"TelemetryOptOut": True}}}}


def main(bucket: str, name: str) -> None:
    session = Session(boto3.Session(), default_bucket=bucket, sagemaker_config=NO_TELEMETRY)
    estimator = PyTorch(
        entry_point="train.py",
        source_dir="code",
        role=os.environ["SWEEP_ROLE"],
        image_uri="any",
        instance_type="ml.m5.large",
        instance_count=1,
        hyperparameters={"lr": 0.1},
        output_path=f"s3://{bucket}/{name}/out",
        sagemaker_session=session,
        max_run=600,
    )
    estimator.fit({"training": f"s3://{bucket}/{name}/data/"}, job_name=name, logs=["Training"])
    again = PyTorch.attach(name, sagemaker_session=session)
    told = {"model": estimator.model_data, "again": again.model_data, "lr": again.hyperparameters()["lr"]}
    sys.stdout.write(f"\n{json.dumps(told)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
