"""Starts a training with the SageMaker SDK v3's ModelTrainer: BUCKET NAME. It prints the name of the training."""

from __future__ import annotations

import logging
import os
import sys

logging.disable(logging.CRITICAL)

import boto3  # noqa: E402
from sagemaker.core.helper.session_helper import Session  # noqa: E402
from sagemaker.train import ModelTrainer  # noqa: E402
from sagemaker.train.configs import Compute, InputData, OutputDataConfig, SourceCode, StoppingCondition  # noqa: E402


def main(bucket: str, name: str) -> None:
    trainer = ModelTrainer(
        sagemaker_session=Session(boto3.Session(), default_bucket=bucket),
        training_image="any",
        role=os.environ["SWEEP_ROLE"],
        base_job_name=name,
        source_code=SourceCode(source_dir="code", entry_script="train.py"),
        compute=Compute(instance_type="ml.m5.large", instance_count=1, volume_size_in_gb=5),
        stopping_condition=StoppingCondition(max_runtime_in_seconds=600),
        output_data_config=OutputDataConfig(s3_output_path=f"s3://{bucket}/{name}/out"),
        hyperparameters={"lr": 0.1},
    )
    trainer.train(
        input_data_config=[InputData(channel_name="training", data_source=f"s3://{bucket}/{name}/data/")],
        wait=False,
        logs=False,
    )
    sys.stdout.write(f"\n{trainer._latest_training_job.training_job_name}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
