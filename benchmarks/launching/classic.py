"""The launcher of the classic recipe, run in the SDK's environment: its own line of the JOBARRAY, then an Estimator."""

import os

import boto3
import sagemaker
from sagemaker.pytorch import PyTorch


def main() -> None:
    bucket, _, key = os.environ["S3_ARRAY_FILE"].removeprefix("s3://").partition("/")
    body = boto3.client("s3").get_object(Bucket=bucket, Key=key)["Body"].read().decode()
    region, s3_uri = body.splitlines()[int(os.environ["AWS_BATCH_JOB_ARRAY_INDEX"])].split(",")[:2]
    session = sagemaker.Session(boto3.Session(region_name=region), default_bucket=bucket)
    estimator = PyTorch(
        entry_point="train_mpi.py",
        source_dir=os.environ["SOURCE"],
        role="arn:aws:iam::123456789012:role/training",
        instance_type="ml.c5.4xlarge",
        instance_count=1,
        framework_version="2.3",
        py_version="py311",
        distribution={"mpi": {"enabled": True, "processes_per_host": 2}},
        hyperparameters={"learning_rate": 0.01, "batch_size": 32, "epochs": 8},
        sagemaker_session=session,
    )
    estimator.fit({"training": s3_uri}, wait=False)


if __name__ == "__main__":
    main()
